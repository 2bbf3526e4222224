import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { ApiProblem } from '../api.ts';
import { Field } from './form.tsx';
import { Icon } from './icon.tsx';

/** Several names, each as a chip. Enter adds what is typed, Backspace in an empty box takes the last one off. */
export function Several({
  values,
  onValues,
  options,
  ...field
}: {
  readonly name: string;
  readonly label: string;
  readonly help?: string;
  readonly problem: ApiProblem | null;
  readonly values: readonly string[];
  readonly onValues: (values: readonly string[]) => void;
  /** Names that are suggested. */
  readonly options: readonly string[];
}): JSX.Element {
  const [text, setText] = useState('');
  const list = useId();
  const add = (name: string): void => {
    setText('');
    if (name !== '' && !values.includes(name)) onValues([...values, name]);
  };
  return (
    <Field {...field}>
      {(described) => (
        <div class="several">
          {values.map((value) => (
            <span class="chip" key={value}>
              <b>{value}</b>
              <button
                type="button"
                aria-label={`Remove ${value}`}
                onClick={() => onValues(values.filter((one) => one !== value))}
              >
                <Icon name="close" />
              </button>
            </span>
          ))}
          <input
            {...described}
            type="text"
            list={list}
            autocomplete="off"
            spellcheck={false}
            placeholder={values.length === 0 ? 'Any' : 'Add another'}
            value={text}
            onInput={({ currentTarget }) => {
              if (options.includes(currentTarget.value)) add(currentTarget.value);
              else setText(currentTarget.value);
            }}
            onBlur={() => add(text.trim())}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && text.trim() !== '') {
                event.preventDefault();
                add(text.trim());
              } else if (event.key === 'Backspace' && text === '') onValues(values.slice(0, -1));
            }}
          />
          <datalist id={list}>
            {options
              .filter((option) => !values.includes(option))
              .map((option) => (
                <option key={option} value={option} />
              ))}
          </datalist>
        </div>
      )}
    </Field>
  );
}
