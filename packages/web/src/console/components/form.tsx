import type { ComponentChildren, JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { ApiProblem } from '../api.ts';
import { problemOf } from '../load.ts';
import { Problem } from './states.tsx';

/** Something that the reader does and that can fail. */
interface Action {
  readonly busy: boolean;
  readonly problem: ApiProblem | null;
  /** Does it, unless it is under way. Resolves to whether it succeeded. */
  readonly run: (act: () => Promise<void>) => Promise<boolean>;
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const run = async (act: () => Promise<void>): Promise<boolean> => {
    if (busy) return false;
    setBusy(true);
    setProblem(null);
    try {
      await act();
      return true;
    } catch (error) {
      setProblem(problemOf(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, problem, run };
}

/** Whether a problem is about a member, or about a part of it: `models[0]` is a part of `models`. */
function isAbout({ field }: ApiProblem, name: string): boolean {
  return field !== null && (field === name || field.startsWith(`${name}[`) || field.startsWith(`${name}.`));
}

interface FieldProps {
  /** The member of the request, as a problem names it. */
  readonly name: string;
  readonly label: string;
  readonly help?: ComponentChildren;
  readonly problem: ApiProblem | null;
}

interface Described {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

/** A labelled control. What the service refuses its value for stands below it. */
export function Field({
  name,
  label,
  help,
  problem,
  children,
}: FieldProps & { readonly children: (described: Described) => ComponentChildren }): JSX.Element {
  const id = useId();
  const wrong = problem !== null && isAbout(problem, name);
  const notes = [help === undefined ? '' : `${id}-help`, wrong ? `${id}-wrong` : ''].join(' ').trim();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': notes === '' ? undefined : notes,
        'aria-invalid': wrong || undefined,
      })}
      {help !== undefined && (
        <p class="fine" id={`${id}-help`}>
          {help}
        </p>
      )}
      {wrong && (
        <p class="wrong" id={`${id}-wrong`} role="alert">
          {problem.message}
        </p>
      )}
    </div>
  );
}

export function TextField({
  value,
  onValue,
  placeholder,
  mode,
  autoFocus = false,
  ...field
}: FieldProps & {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly placeholder?: string;
  /** The keyboard of a telephone. */
  readonly mode?: 'decimal' | 'numeric' | 'url';
  readonly autoFocus?: boolean;
}): JSX.Element {
  return (
    <Field {...field}>
      {(described) => (
        <input
          {...described}
          type="text"
          inputMode={mode}
          autoFocus={autoFocus}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** A day, such as `2027-12-31`; empty for none. */
export function DayField({
  value,
  onValue,
  ...field
}: FieldProps & { readonly value: string; readonly onValue: (value: string) => void }): JSX.Element {
  return (
    <Field {...field}>
      {(described) => (
        <input
          {...described}
          type="date"
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** A problem that no field of a form shows. @param fields their names */
export function OtherProblem({
  of,
  fields,
}: {
  readonly of: ApiProblem | null;
  readonly fields: readonly string[];
}): JSX.Element | null {
  return of === null || fields.some((name) => isAbout(of, name)) ? null : <Problem of={of} />;
}
