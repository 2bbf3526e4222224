import type { ComponentChildren, JSX } from 'preact';
import type { ApiProblem } from '../api.ts';
import { Icon } from './icon.tsx';

/** Says that there is nothing, and what to do about it. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Stands where something is being loaded, as high as that will be. @param rows lines of a list */
export function Skeleton({ rows = 1 }: { readonly rows?: number }): JSX.Element {
  return (
    <div class="skeleton" role="status">
      <span class="hidden">Loading…</span>
      {Array.from({ length: rows }, (_, row) => (
        <i key={row} />
      ))}
    </div>
  );
}

/** An error where its answer would have been: what the service said, and how to try again. */
export function Problem({
  of,
  retry,
}: {
  readonly of: ApiProblem;
  readonly retry?: () => void;
}): JSX.Element {
  return (
    <div class="problem" role="alert">
      <Icon name="fail" />
      <div>
        <h2>{of.title}</h2>
        <p>
          {of.field === null ? '' : <code>{of.field}</code>} {of.message}
        </p>
        <p class="fine">
          <code>{of.code}</code>
          {of.requestId === null ? '' : <> · request {of.requestId}</>}
        </p>
      </div>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
