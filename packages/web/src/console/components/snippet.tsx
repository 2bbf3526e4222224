import type { JSX } from 'preact';
import { CopyButton } from './copy-button.tsx';

/** Text to copy. @param what of what it is: `the commands` */
export function Snippet({ text, what }: { readonly text: string; readonly what: string }): JSX.Element {
  return (
    <div class="snippet">
      <pre tabIndex={0} aria-label={what}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} what={what.replace(/^the /i, '')} />
    </div>
  );
}
