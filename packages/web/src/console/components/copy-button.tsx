import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** Copies a text. @param what of what it is the copy: `receipt id` */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }): JSX.Element {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (): void => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  return (
    <button type="button" class="quiet" aria-label={copied ? 'Copied' : `Copy the ${what}`} onClick={copy}>
      <Icon name={copied ? 'done' : 'copy'} />
    </button>
  );
}
