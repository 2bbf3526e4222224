import type { Bindings } from './asked.ts';
import type { AppContext } from './context.ts';

/** Aborts as soon as the client closes the connection before its answer is complete, or cancels its call. */
export function clientSignal(c: AppContext): AbortSignal {
  const inner = c.get('inner');
  if (inner !== undefined) return inner.signal;
  const outgoing = (c.env as Partial<Bindings> | undefined)?.outgoing;
  if (outgoing === undefined) return c.req.raw.signal;
  const controller = new AbortController();
  const onClose = (): void => {
    if (!outgoing.writableFinished) controller.abort();
  };
  if (outgoing.destroyed) onClose();
  else outgoing.once('close', onClose);
  return controller.signal;
}
