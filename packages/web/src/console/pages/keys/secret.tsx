import type { JSX } from 'preact';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Snippet } from '../../components/snippet.tsx';
import type { NewKey } from './documents.ts';

/** The secret of a key, this once, and how it is used. */
export function Secret({ of: key, close }: { readonly of: NewKey; readonly close: () => void }): JSX.Element {
  return (
    <Dialog title={key.name ?? key.id} close={close} wide onlyByButton>
      <p>Copy the key now. It is shown this once, and nobody can read it from the service again.</p>
      <p class="secret">
        <code>{key.key}</code>
        <CopyButton text={key.key} what="key" />
      </p>
      <p class="fine">Every client of OpenAI’s interface takes it, for example:</p>
      <Snippet what="The commands" text={linesFor(key.key)} />
      <div class="choices end">
        <button type="button" class="primary" onClick={close}>
          I have copied it
        </button>
      </div>
    </Dialog>
  );
}

function linesFor(key: string): string {
  return `export OPENAI_API_KEY=${key}
export OPENAI_BASE_URL=${location.origin}/v1/compute
curl $OPENAI_BASE_URL/chat/completions -H "Authorization: Bearer $OPENAI_API_KEY" -H 'Content-Type: application/json' -d '{"model": "auto", "messages": [{"role": "user", "content": "Hello"}]}'`;
}
