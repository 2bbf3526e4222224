import type { JSX } from 'preact';
import { query, setQuery } from '../../router.ts';
import { DEFAULT_RANGE, RANGES, type RangeName, rangeNameIn } from './range.ts';

/** Chooses the range in the address. One that was picked in the plot can be left for a named one. */
export function RangePicker(): JSX.Element {
  const own = query.value.has('from');
  const chosen = own ? null : rangeNameIn(query.value);
  return (
    <div class="ways" role="group" aria-label="Range">
      {own && (
        <button type="button" aria-pressed="true">
          Picked
        </button>
      )}
      {(Object.keys(RANGES) as RangeName[]).map((name) => (
        <button
          type="button"
          key={name}
          aria-pressed={name === chosen}
          title={RANGES[name].title}
          onClick={() => setQuery({ range: name === DEFAULT_RANGE ? null : name, from: null, to: null })}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
