import type { ComponentChildren, JSX } from 'preact';

interface Bar {
  readonly name: string;
  /** Not negative; the longest bar is the largest. */
  readonly value: number;
  /** The value as it is read. */
  readonly shown: ComponentChildren;
  readonly onPick?: () => void;
}

/** Shares of one sum, largest first, as lines with a bar behind each. */
export function Bars({
  label,
  bars,
}: {
  readonly label: string;
  readonly bars: readonly Bar[];
}): JSX.Element {
  const largest = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  return (
    <ul class="bars" aria-label={label}>
      {bars
        .toSorted((one, other) => other.value - one.value)
        .map(({ name, value, shown, onPick }) => (
          <li key={name}>
            <i style={{ width: `${(100 * value) / largest}%` }} />
            {onPick === undefined ? (
              <span>{name}</span>
            ) : (
              <button type="button" onClick={onPick}>
                {name}
              </button>
            )}
            <b>{shown}</b>
          </li>
        ))}
    </ul>
  );
}
