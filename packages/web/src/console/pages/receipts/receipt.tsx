import { receiptIdPattern } from '@tallystick/core';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { reveal } from '../../../reveal.ts';
import type { ApiProblem } from '../../api.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Problem, Skeleton } from '../../components/states.tsx';
import { Transaction } from '../../components/transaction.tsx';
import { useLoad } from '../../load.ts';
import { saveFile } from '../../save.ts';
import type { Anchoring } from './anchoring.ts';
import type { CorrectionOfReceipt } from './corrected.ts';
import type { Judged } from './judged.ts';

/** A receipt: where it is anchored, and what the verifier finds in it. */
export function Receipt({ id }: { readonly id: string }): JSX.Element {
  const isId = receiptIdPattern.test(id);
  const { value, problem, reload } = useLoad(isId ? id : null, async (signal) => {
    const { judgedReceipt } = await import('./judged.ts');
    return judgedReceipt(id, signal);
  });
  if (!isId) {
    return (
      <Empty title="That is not a receipt id">
        <p>
          An id consists of r_, the profile, a time in seconds and twelve characters, such as{' '}
          <code>r_standard_1795252830_3d231568a201</code>.
        </p>
      </Empty>
    );
  }
  if (problem !== null) return <Missing problem={problem} retry={reload} />;
  return value === null ? <Skeleton rows={6} /> : <Found id={id} judged={value} />;
}

function Missing({
  problem,
  retry,
}: {
  readonly problem: ApiProblem;
  readonly retry: () => void;
}): JSX.Element {
  const title = { 404: 'Not found', 410: 'No longer kept' }[problem.status ?? 0];
  if (title === undefined) return <Problem of={problem} retry={retry} />;
  return (
    <Empty title={title}>
      <p>{problem.message}</p>
      {problem.status === 404 && (
        <p>A tenant’s receipt is shown to nobody but the tenant: sign in with its key to read one.</p>
      )}
    </Empty>
  );
}

function Found({ id, judged }: { readonly id: string; readonly judged: Judged }): JSX.Element {
  const { text, anchoring, corrections, parts, summary } = judged;
  return (
    <>
      <section class="panel receipt" aria-label="The receipt">
        <p class="id">
          <code>{id}</code>
          <CopyButton text={id} what="receipt id" />
        </p>
        {anchoring !== null && <Place of={anchoring} chainId={judged.chainId} />}
        {corrections.map((one) => (
          <Corrected key={one.link.link_id} of={one} />
        ))}
        <div class="tools">
          <button type="button" onClick={() => saveFile(text, `${id}.json`, 'application/json')}>
            <Icon name="download" /> Download the receipt
          </button>
          {anchoring?.result && (
            <button
              type="button"
              onClick={() =>
                saveFile(JSON.stringify(anchoring.result, null, 2), `${id}.anchor.json`, 'application/json')
              }
            >
              <Icon name="download" /> Download its anchor
            </button>
          )}
          <CopyLink />
        </div>
      </section>
      <p class="hidden" role="status">
        {summary}
      </p>
      <Drawn parts={parts} />
    </>
  );
}

function CopyLink(): JSX.Element | null {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  // Browsers give a clipboard to pages over HTTPS alone.
  if (!('clipboard' in navigator)) return null;
  const copy = (): void => void navigator.clipboard.writeText(location.href).then(() => setCopied(true));
  return (
    <button type="button" onClick={copy}>
      <Icon name={copied ? 'done' : 'copy'} /> {copied ? 'Copied' : 'Copy the link'}
    </button>
  );
}

const ICONS = { pass: 'done', unsure: 'unknown', unknown: 'unknown' } as const;

function Place({ of, chainId }: { readonly of: Anchoring; readonly chainId: number | null }): JSX.Element {
  const { state, title, message, hash, tx } = of;
  return (
    <p class="standing" data-state={state}>
      <Icon name={ICONS[state]} />
      <span>
        <b>{title}.</b> {message}
        {state !== 'unknown' && (
          <>
            {' '}
            <a href={`/log?hash=${hash}`}>Its leaf in the log</a>
          </>
        )}
        {tx !== null && (
          <>
            {' '}
            · transaction <Transaction hash={tx} chainId={chainId} />
          </>
        )}
      </span>
    </p>
  );
}

/** What corrects the receipt, or what it corrects, with what this page found of the envelope that says so. */
function Corrected({ of: { kind, link, verdict } }: { readonly of: CorrectionOfReceipt }): JSX.Element {
  const state = verdict === null ? 'unknown' : verdict.valid ? 'pass' : 'unsure';
  const other = <ReceiptLink id={link.receipt_id} />;
  const holds = verdict?.valid !== false;
  return (
    <p class="standing" data-state={state}>
      <Icon name={ICONS[state]} />
      <span>
        {kind === 'corrected_by' ? (
          <>
            <b>{holds ? 'Corrected.' : 'Said to be corrected.'}</b> {other} supersedes this receipt, which
            proves what it proved.
          </>
        ) : (
          <>
            <b>{holds ? 'A correction.' : 'Said to be a correction.'}</b> This receipt supersedes {other}.
          </>
        )}
        {link.reason !== null && (
          <>
            {' '}
            Reason: <Revealed text={link.reason} />
          </>
        )}{' '}
        (<ReceiptLink id={link.link_id} />
        {verdict === null && ', which this page could not check'})
        {verdict?.valid === false && <> This does not hold: {verdict.faults.join(' ')}</>}
      </span>
    </p>
  );
}

/** A text of whoever signed it: no character in it stays invisible, or changes the direction of what follows. */
function Revealed({ text }: { readonly text: string }): JSX.Element {
  const pieces = [...reveal(text)].map((piece, at) =>
    piece.marked ? (
      <span class="mark" key={at}>
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
  return <>{pieces}</>;
}

const ReceiptLink = ({ id }: { readonly id: string }): JSX.Element => (
  <a href={`/receipts#${encodeURIComponent(id)}`}>{id}</a>
);

/** What the verifier’s own code has drawn. */
function Drawn({ parts }: { readonly parts: readonly Node[] }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    place.current?.replaceChildren(...parts);
  }, [parts]);
  return <div class="judgement" ref={place} />;
}
