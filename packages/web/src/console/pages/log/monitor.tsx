import type { JSX } from 'preact';
import { CopyButton } from '../../components/copy-button.tsx';
import type { LogStatus } from './documents.ts';

/** What a monitor of one's own needs. */
export function Monitor({ log }: { readonly log: LogStatus }): JSX.Element {
  const { origin, verifier_key, chain, witnesses } = log;
  const site = location.origin;
  const values: readonly (readonly [name: string, value: string])[] = [
    ['Command', `tally log monitor --url ${site} --vkey '${verifier_key}' --state log.txt`],
    ['Origin', origin],
    ['Verifier key', verifier_key],
    ...(chain === null ? [] : ([['Posting account', chain.address]] as const)),
    ['Tiles', `${site}/tile/`],
    ...witnesses.map((key) => ['Witness', key] as const),
  ];
  return (
    <details class="monitor">
      <summary>Monitor it yourself</summary>
      <p>
        The log serves C2SP tlog-tiles, so other people’s tools can read it. Anyone who keeps an older
        checkpoint can prove it if history is ever rewritten.
      </p>
      <dl>
        {values.map(([name, value]) => (
          <div key={name + value}>
            <dt>{name}</dt>
            <dd>
              <code>{value}</code>
              <CopyButton text={value} what={name.toLowerCase()} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
