import type { CallCheck } from '@tallystick/core';
import type { JSX } from 'preact';
import { Icon } from '../../components/icon.tsx';

/** Whether the receipt covers a request, in words. */
export function Covered({ check }: { readonly check: CallCheck }): JSX.Element {
  return (
    <p class="answer" role="status" data-state={check.ok === true ? 'pass' : 'fail'}>
      <Icon name={check.ok === true ? 'done' : 'close'} />
      {check.detail}
    </p>
  );
}
