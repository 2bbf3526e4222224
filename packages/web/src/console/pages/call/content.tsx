import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiProblem, api } from '../../api.ts';
import { Problem, Skeleton } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { count } from '../../format/number.ts';
import { problemOf, useLoad } from '../../load.ts';
import { Covered } from './covered.tsx';
import type { CallDetail, Compression, KeptContent } from './documents.ts';
import { Given } from './given.tsx';
import { promptIn } from './prompt.ts';
import { Prompts } from './prompts.tsx';

/** The prompt as it was asked and as it was sent, where it is kept, or where the reader has its file. */
export function Content({
  call,
  receipt,
}: {
  readonly call: CallDetail;
  /** JSON text of the call's receipt; null while there is none. */
  readonly receipt: string | null;
}): JSX.Element {
  const kept = useLoad(call.content_kept === true ? call.id : null, (signal) => keptOf(call.id, signal));
  return (
    <section class="part" aria-labelledby="prompt">
      <h2 id="prompt">Prompt</h2>
      {call.compression !== null && <Cuts of={call.compression} />}
      {kept.problem !== null && <Problem of={kept.problem} retry={kept.reload} />}
      {kept.busy ? (
        <Skeleton rows={3} />
      ) : kept.value?.content ? (
        <Kept call={call} content={kept.value.content} receipt={receipt} forgotten={kept.reload} />
      ) : (
        <Given receipt={receipt} />
      )}
    </section>
  );
}

/** What is kept of a call; null where nothing is, or not any more. */
async function keptOf(id: string, signal: AbortSignal): Promise<{ readonly content: KeptContent | null }> {
  try {
    return { content: await api<KeptContent>(pathOf(id), { signal }) };
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return { content: null };
    throw error;
  }
}

const pathOf = (id: string): `/${string}` => `/v1/compute/calls/${encodeURIComponent(id)}/content`;

/** What compression did, in numbers. */
function Cuts({ of }: { readonly of: Compression }): JSX.Element | null {
  const { tokens_before: before, tokens_after: after, methods = {}, removed = [], note, reason } = of;
  if (reason !== undefined) return <p class="fine">{reason}</p>;
  if (typeof before !== 'number' || typeof after !== 'number') return null;
  const names = Object.entries(methods).map(
    ([name, tokens]) => `${name.replaceAll('_', ' ')} (${count(tokens)})`,
  );
  return (
    <p class="fine">
      {after < before
        ? `Compression cut ${count(before - after)} of ${count(before)} tokens of text${names.length > 0 ? `, by ${names.join(', ')}` : ''}.`
        : `Compression cut nothing of ${count(before)} tokens.`}
      {note !== undefined
        ? ` ${note.replaceAll('`', '')}`
        : removed.length > 0 &&
          ` The model could ask for ${removed.length === 1 ? 'the piece that was cut' : `the ${removed.length} pieces that were cut`}.`}
    </p>
  );
}

function Kept({
  call,
  content,
  receipt,
  forgotten,
}: {
  readonly call: CallDetail;
  readonly content: KeptContent;
  readonly receipt: string | null;
  readonly forgotten: () => void;
}): JSX.Element {
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const forget = async (): Promise<void> => {
    if (!confirm('Delete prompt and answer of this call now? The receipt stays.')) return;
    try {
      await api(pathOf(call.id), { method: 'DELETE' });
      forgotten();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  const checked = useLoad(receipt === null ? null : call.id, async () => {
    const { checkPart } = await import('../../judge.ts');
    return receipt === null ? undefined : checkPart('request', content.request as object, receipt);
  });
  return (
    <>
      <Prompts asked={promptIn(content.request)} sent={promptIn(content.sent)} />
      <details class="more">
        <summary>Answer</summary>
        <pre class="text" tabIndex={0} role="group" aria-label="Answer">
          {answerOf(content.answer)}
        </pre>
      </details>
      {checked.value && <Covered check={checked.value} />}
      <p class="fine">
        Kept, encrypted, until <Time at={content.kept_until} />.{' '}
        <button type="button" class="plain" onClick={() => void forget()}>
          Delete it now
        </button>
      </p>
      {problem !== null && <Problem of={problem} />}
    </>
  );
}

/** The text of an answer in the forms of OpenAI and Anthropic, otherwise its JSON. */
function answerOf(answer: unknown): string {
  const said = promptIn({ messages: choicesOf(answer) });
  return said.length > 0 ? said.map(({ text }) => text).join('\n\n') : JSON.stringify(answer, null, 2);
}

function choicesOf(answer: unknown): unknown[] {
  const { choices, content, output } = (answer ?? {}) as Record<string, unknown>;
  if (Array.isArray(choices))
    return choices.map((choice: { message?: unknown; text?: unknown }) => choice.message ?? choice.text);
  return Array.isArray(content) ? content : Array.isArray(output) ? output : [];
}
