import { svg } from '../plot/svg.ts';

const WIDTH = 560;
/** Height of one half, in SVG units. */
const HEIGHT = 56;
const NOTCHES = 10;
/** Position of the first notch, and the width of the space for each notch. */
const FIRST = 44;
const ROOM = (WIDTH - 2 * FIRST) / NOTCHES;
const RADIUS = 7;

/** The outline of one half, split edge down: position, width and depth of each notch follow from one byte of the hash. */
function outline(hash: Uint8Array): string {
  const cuts = Array.from(hash.subarray(0, NOTCHES), (byte, index) => {
    const half = 9 + (byte & 3) * 2.5;
    const centre = FIRST + ROOM * index + half + ((byte >> 2) & 7) * ((ROOM - 2 * half) / 7);
    const depth = 14 + (byte >> 5) * 3;
    return `L${(centre - half).toFixed(1)} ${HEIGHT}L${centre.toFixed(1)} ${HEIGHT - depth}L${(centre + half).toFixed(1)} ${HEIGHT}`;
  });
  const r = RADIUS;
  return `M0 ${HEIGHT}${cuts.join('')}L${WIDTH} ${HEIGHT}V${r}a${r} ${r} 0 0 0 -${r} -${r}H${r}a${r} ${r} 0 0 0 -${r} ${r}z`;
}

/** Draws the grain of the wood. */
const grain = (): SVGElement[] =>
  [13, 22].map((y, index) =>
    svg('path', { class: 'grain', d: `M${14 + index * 40} ${y}H${WIDTH - 90 + index * 60}` }),
  );

/**
 * Draws a split tally stick. The halves fit if both hashes (32 bytes) are the same.
 * @param signed hash of the signed receipt; the upper half
 * @param held hash of the present text; the lower half
 */
export function tallyStickOf(signed: Uint8Array, held: Uint8Array): SVGElement {
  const half = (className: string, transform: string, hash: Uint8Array): SVGElement => {
    const wood = svg('g', { transform }, svg('path', { class: 'wood', d: outline(hash) }), ...grain());
    return svg('g', { class: className }, wood);
  };
  return svg(
    'svg',
    { viewBox: `-4 -4 ${WIDTH + 8} ${2 * HEIGHT + 26}` },
    half('half upper', 'translate(0 0)', signed),
    half('half lower', `translate(0 ${2 * HEIGHT + 18}) scale(1 -1)`, held),
  );
}
