import { byId } from '../dom.ts';
import type { Calls } from './main.ts';

declare global {
  var tallystickCalls: Calls | undefined;
}

/** The page's second script, which is run when an inference call is judged for the first time. */
export function calls(): Calls {
  if (globalThis.tallystickCalls === undefined) {
    const script = document.createElement('script');
    script.textContent = byId('later').textContent;
    document.head.append(script);
  }
  return globalThis.tallystickCalls as unknown as Calls;
}
