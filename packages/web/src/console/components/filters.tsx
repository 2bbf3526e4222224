import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useShortcuts } from '../frame/shortcuts.ts';
import { query, setQuery } from '../router.ts';
import { Icon } from './icon.tsx';

export interface Filter {
  /** Member of the address and of the request. */
  readonly name: string;
  readonly label: string;
  /** Values worth proposing; any other may be typed too. */
  readonly values?: readonly string[];
  /** Whether a bare word, with no `name:` before it, is meant for this filter. */
  readonly takes?: (word: string) => boolean;
}

/** What filters are set, as members of a request. */
export function filtersIn(filters: readonly Filter[]): Record<string, string> {
  const set = filters.map(({ name }) => [name, query.value.get(name) ?? ''] as const);
  return Object.fromEntries(set.filter(([, value]) => value !== ''));
}

/** Filters that stand in the address. They are typed as `name:value`, and each that is set can be taken off again. */
export function Filters({
  filters,
  placeholder = 'Filter: model:…, status:error, a receipt id',
}: {
  readonly filters: readonly Filter[];
  readonly placeholder?: string;
}): JSX.Element {
  const box = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState('');
  const [text, setText] = useState('');
  useShortcuts({ '/': () => box.current?.focus() });
  const set = filtersIn(filters);

  const apply = (event: Event): void => {
    event.preventDefault();
    if (text.trim() === '') return;
    const found = readFilter(filters, text.trim());
    if (found === null) {
      const names = filters.map(({ name }) => name).join(', ');
      return setProblem(`Type a filter as name:value. The names are ${names}.`);
    }
    setProblem('');
    setText('');
    setQuery(found);
  };
  const proposals = filters.flatMap(({ name, values = [] }) =>
    values.length === 0 ? [`${name}:`] : values.map((value) => `${name}:${value}`),
  );
  return (
    <div class="filters">
      <form class="search" role="search" onSubmit={apply}>
        <Icon name="search" />
        <input
          ref={box}
          aria-label="Add a filter"
          aria-describedby={problem === '' ? undefined : 'filter-problem'}
          aria-invalid={problem !== ''}
          placeholder={placeholder}
          list="filter-proposals"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
        />
        <kbd aria-hidden="true">/</kbd>
        <datalist id="filter-proposals">
          {proposals.map((proposal) => (
            <option key={proposal} value={proposal} />
          ))}
        </datalist>
      </form>
      {Object.entries(set).map(([name, value]) => (
        <span class="chip" key={name}>
          {labelOf(filters, name)} <b>{value}</b>
          <button
            type="button"
            aria-label={`Remove the filter ${name}`}
            onClick={({ detail }) => {
              setQuery({ [name]: null });
              // No pointer has clicked, but a key: the button is gone, and the focus goes to the box beside it.
              if (detail === 0) box.current?.focus();
            }}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      {problem !== '' && (
        <p class="wrong" id="filter-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

const labelOf = (filters: readonly Filter[], name: string): string =>
  filters.find((filter) => filter.name === name)?.label ?? name;

function readFilter(filters: readonly Filter[], text: string): Record<string, string> | null {
  const [, name, value] = /^(\w+):(.+)$/s.exec(text) ?? [];
  const named = filters.find((filter) => filter.name === name);
  if (named !== undefined && value !== undefined) return { [named.name]: value.trim() };
  const taking = filters.find(({ takes }) => takes?.(text) === true);
  return taking === undefined ? null : { [taking.name]: text };
}
