import { type CallCheck, parseJson, TallyError, utf8 } from '@tallystick/core';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Covered } from './covered.tsx';
import { promptIn } from './prompt.ts';
import { Prompts } from './prompts.tsx';

/** Takes the body of the request from the reader, and shows it if the receipt covers it. Nothing is sent. */
export function Given({ receipt }: { readonly receipt: string | null }): JSX.Element {
  const [check, setCheck] = useState<CallCheck | null>(null);
  const [body, setBody] = useState<unknown>(null);
  const [over, setOver] = useState(false);
  if (receipt === null) {
    return (
      <p class="fine">
        The prompt is not kept. Send <code>svc.keep</code> with a call to keep its prompt and answer, where
        the operator of this service allows it.
      </p>
    );
  }
  const take = async (bytes: Uint8Array): Promise<void> => {
    const { checkPart } = await import('../../judge.ts');
    const found = checkPart('request', bytes, receipt) ?? null;
    setCheck(found);
    setBody(found?.ok === true ? bodyIn(bytes) : null);
  };
  const takeFile = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const bytes = await file.arrayBuffer().catch(() => null);
    if (bytes !== null) return take(new Uint8Array(bytes));
    setBody(null);
    setCheck({
      name: 'request',
      ok: false,
      detail: `${file.name} can’t be read. Of a folder, drop the file in it.`,
    });
  };
  return (
    <>
      {body !== null && <Prompts asked={promptIn(body)} sent={null} />}
      {check !== null && <Covered check={check} />}
      <form
        class="given"
        data-over={over}
        onSubmit={(event) => event.preventDefault()}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void takeFile(event.dataTransfer?.files[0]);
        }}
      >
        <p>
          {body === null
            ? 'The prompt is not kept. If you have the body of the request, drop its file here: this page compares its hash with the receipt, and shows it. Nothing is uploaded.'
            : 'This is what was asked. What was sent to the provider is not kept.'}
        </p>
        <div class="ways-in">
          <label>
            <span class="hidden">File of the request</span>
            <input
              type="file"
              accept=".json,application/json"
              onChange={({ currentTarget }) => void takeFile(currentTarget.files?.[0])}
            />
          </label>
          <label>
            <span class="hidden">The request, as text</span>
            <textarea
              rows={1}
              spellcheck={false}
              placeholder="or paste it here"
              onInput={({ currentTarget: { value } }) => {
                if (value.trim() !== '') void take(utf8(value));
              }}
            />
          </label>
        </div>
      </form>
    </>
  );
}

/** The body, which the check has read before. */
function bodyIn(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}
