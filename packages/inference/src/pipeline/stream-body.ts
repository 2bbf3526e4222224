import type { CallSignal } from './call-signal.ts';

type Controller = ReadableStreamDefaultController<Uint8Array>;

/**
 * The body of a stream, whose events are requested as the client reads. If the service ends the call while the client
 * reads nothing, the last events are queued, so that the call ends and is billed at once.
 */
export function bodyOf(events: AsyncGenerator<Uint8Array>, call: CallSignal): ReadableStream<Uint8Array> {
  let over = false;
  /** Whether more may follow. */
  const next = async (controller: Controller): Promise<boolean> => {
    const { done, value } = await events.next();
    if (over) return false;
    over = done === true;
    if (done === true) controller.close();
    else controller.enqueue(value);
    return !over;
  };
  const rest = async (controller: Controller): Promise<void> => {
    let more = !call.left;
    if (call.left) await events.return(undefined);
    while (more) more = await next(controller);
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = (): void => void rest(controller).catch((error: unknown) => controller.error(error));
        if (call.signal.aborted) end();
        else call.signal.addEventListener('abort', end, { once: true });
      },
      async pull(controller) {
        await next(controller);
      },
      async cancel() {
        over = true;
        call.leave();
        await events.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
