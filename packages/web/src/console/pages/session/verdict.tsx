import type { SessionVerification } from '@tallystick/core';
import type { JSX } from 'preact';
import { Icon } from '../../components/icon.tsx';
import { counted } from '../../format/number.ts';

/** The verdict on the signed record of a session. */
export function SessionVerdict({ of }: { readonly of: SessionVerification }): JSX.Element {
  const { state, title } = headingOf(of);
  return (
    <section class="verdict" data-state={state} aria-label="Verdict on the signed record">
      <h2>
        <Icon name={ICONS[state]} /> {title}
      </h2>
      <ul>
        {linesOf(of).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {of.faults.length > 0 && (
        <ul>
          {of.faults.slice(0, 20).map(({ name, seq, line, detail }) => (
            <li key={`${name} ${line} ${seq} ${detail}`} data-state="fail">
              <Icon name="close" />
              <span>
                <b>{name}</b> {detail}
              </span>
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>What this does not prove</summary>
        <ul>
          {notesOf(of).map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      </details>
    </section>
  );
}

const ICONS = { pass: 'done', fail: 'close', unknown: 'unknown' } as const;

function headingOf({ valid, trusted, faults }: SessionVerification): {
  readonly state: keyof typeof ICONS;
  readonly title: string;
} {
  if (!valid) {
    return {
      state: 'fail',
      title:
        faults.length === 0
          ? 'The signed record contradicts a receipt'
          : `The signed record has ${counted(faults.length, 'fault')}`,
    };
  }
  return trusted
    ? { state: 'pass', title: 'The signed record is whole and valid' }
    : {
        state: 'unknown',
        title: 'The signed record is intact, by a key that this service does not vouch for',
      };
}

function linesOf(of: SessionVerification): string[] {
  const { count: number, state, recorder, anchored_up_to: anchored, references, parent, continues } = of;
  const signer = recorder?.by === 'service' ? recorder.issuer_did : recorder?.key_id;
  return [
    `${counted(number, 'receipt')}${signer === undefined ? '' : `, signed by ${signer}`}.`,
    state === 'closed'
      ? 'It is closed: from the opening to the closing, nothing can be missing.'
      : 'It is open: it may go on, and its newest receipts could be missing.',
    anchored === null
      ? 'Nothing of it is anchored yet.'
      : `It is anchored up to number ${anchored}: nothing up to there can be changed.`,
    ...(references.valid + references.not_given + references.contradicts === 0
      ? []
      : [
          `Receipts that it refers to: ${references.valid} here and valid, ${references.not_given} not here, ${references.contradicts} that are not what it says.`,
        ]),
    ...(parent === null ? [] : [`It was begun from number ${parent.seq} of session ${parent.id}.`]),
    ...(continues === null ? [] : [`It goes on from session ${continues.id}.`]),
  ];
}

function notesOf({ notes, recorder }: SessionVerification): string[] {
  return [
    ...notes,
    recorder?.by === 'own_key'
      ? 'More than the word of who holds the key: it can sign another history.'
      : 'That the calls took place as they are told: the service signed what it was told of them.',
    'What arguments and results were: the record holds their salted hashes.',
  ];
}
