import type { JSX } from 'preact';
import { useLoad } from '../load.ts';

/** Modules of white around the code, as ISO/IEC 18004 asks for. */
const QUIET = 4;

/** A text as a QR code, dark on light in any look: not every reader takes it the other way round. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const { value } = useLoad(text, async () => {
    const { default: encode } = await import('qr');
    return encode(text, 'raw', { border: QUIET, ecc: 'medium' });
  });
  const size = value?.length ?? 1;
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <path d={value === null ? '' : shapeOf(value)} />
    </svg>
  );
}

function shapeOf(rows: readonly (readonly boolean[])[]): string {
  return rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
}
