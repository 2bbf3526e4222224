import type { ComponentChildren, JSX } from 'preact';
import { open } from '../frame/open.ts';
import { Empty } from './states.tsx';

/** Stands where a page shows what is somebody's own, until somebody signs in. */
export function SignInFirst({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <Empty title={title}>
      <p>{children}</p>
      <button type="button" class="primary" onClick={() => void (open.value = 'sign-in')}>
        Sign in
      </button>
    </Empty>
  );
}
