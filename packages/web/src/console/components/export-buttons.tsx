import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiProblem, Query } from '../api.ts';
import { bytesText } from '../format/bytes.ts';
import { problemOf } from '../load.ts';
import { chooseTarget, rateText, type Streamed, stream } from '../stream.ts';
import { Dialog } from './dialog.tsx';
import { Icon } from './icon.tsx';
import { Problem } from './states.tsx';

const FORMATS = { csv: 'CSV', ndjson: 'NDJSON' } as const;

interface ExportProps {
  readonly path: `/${string}`;
  /** Name of the file, without its ending. */
  readonly name: string;
  readonly query: Query;
}

/** Saves everything that a list holds, as CSV or NDJSON: as it arrives, where the browser lets the reader choose a file. */
export function ExportButtons(props: ExportProps): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        <Icon name="download" /> Export
      </button>
      {open && <ExportDialog {...props} close={() => setOpen(false)} />}
    </>
  );
}

function ExportDialog({
  path,
  name,
  query,
  close,
}: ExportProps & { readonly close: () => void }): JSX.Element {
  const [state, setState] = useState<Streamed | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const aborter = useRef<AbortController | null>(null);
  useEffect(() => () => aborter.current?.abort(), []);
  const save = async (format: keyof typeof FORMATS): Promise<void> => {
    setProblem(null);
    const control = new AbortController();
    aborter.current = control;
    try {
      const target = await chooseTarget(`${name}.${format}`);
      if (target === 'cancelled') return;
      await stream(path, { query: { ...query, format }, signal: control.signal }, target, setState);
      close();
    } catch (error) {
      setState(null);
      if (!control.signal.aborted) setProblem(problemOf(error));
    }
  };
  return (
    <Dialog title="Export" close={close}>
      <p>Everything that matches the range and the filters, however much it is.</p>
      <div class="choices">
        {(Object.keys(FORMATS) as (keyof typeof FORMATS)[]).map((format) => (
          <button type="button" key={format} disabled={state !== null} onClick={() => void save(format)}>
            {FORMATS[format]}
          </button>
        ))}
        {state !== null && (
          <button type="button" onClick={() => aborter.current?.abort()}>
            Stop
          </button>
        )}
      </div>
      {state !== null && <Progress of={state} />}
      {problem !== null && <Problem of={problem} />}
    </Dialog>
  );
}

function Progress({ of: { bytes, milliseconds } }: { readonly of: Streamed }): JSX.Element {
  return (
    <>
      <p role="status">
        {milliseconds === null
          ? 'Waiting for the first rows.'
          : `${bytesText(bytes)} received${rateText(bytes, milliseconds)}.`}
      </p>
      <progress aria-label="Receiving" />
    </>
  );
}
