import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { differences, type Part } from './diff.ts';
import { pairsOf, type Said } from './prompt.ts';

/** A prompt as it was asked and, beside it, as it was sent, with what was cut and what was put in marked. */
export function Prompts({
  asked,
  sent,
}: {
  readonly asked: readonly Said[];
  /** Null where it is not known. */
  readonly sent: readonly Said[] | null;
}): JSX.Element {
  const pairs = useMemo(
    () =>
      sent === null
        ? null
        : pairsOf(asked, sent).map(([one, other]) => ({
            one,
            other,
            parts: one.text === other.text ? null : differences(one.text, other.text),
          })),
    [asked, sent],
  );
  if (pairs === null) {
    return (
      <>
        {asked.map(({ role, text }, at) => (
          <Side key={at} title={`${role}, as asked`} parts={[{ in: 'both', text }]} leave="new" />
        ))}
      </>
    );
  }
  if (pairs.every(({ one, other }) => one.text === other.text)) {
    return (
      <>
        <p>It was sent as it was asked.</p>
        {asked.map(({ role, text }, at) => (
          <Side key={at} title={role} parts={[{ in: 'both', text }]} leave="new" />
        ))}
      </>
    );
  }
  return (
    <>
      <p class="fine legend">
        <del>cut</del> <ins>put in its place</ins>
      </p>
      {pairs.map(({ one, other, parts }, at) => (
        <div class="pair" key={at}>
          <Side
            title={`${one.role}, as asked`}
            parts={parts ?? [{ in: 'both', text: one.text }]}
            leave="new"
          />
          <Side
            title={`${other.role}, as sent`}
            parts={parts ?? [{ in: 'both', text: other.text }]}
            leave="old"
          />
        </div>
      ))}
    </>
  );
}

function Side({
  title,
  parts,
  leave,
}: {
  readonly title: string;
  readonly parts: readonly Part[];
  /** The parts that this side does not have. */
  readonly leave: 'old' | 'new';
}): JSX.Element {
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <pre class="text" tabIndex={0} role="group" aria-label={title}>
        {parts
          .filter((part) => part.in !== leave)
          .map((part, at) =>
            part.in === 'old' ? (
              <del key={at}>{part.text}</del>
            ) : part.in === 'new' ? (
              <ins key={at}>{part.text}</ins>
            ) : (
              part.text
            ),
          )}
      </pre>
    </figure>
  );
}
