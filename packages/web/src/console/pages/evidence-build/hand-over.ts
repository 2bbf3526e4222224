import { openSignedOut } from '../../identity/identity.ts';

/** Opens the verifier page and gives it a bundle. The page is one file that may send nothing, so it stays in this browser. */
export function handOver(file: File): void {
  const verifier = openSignedOut('/evidence');
  if (verifier === null) return;
  const give = ({ origin, source, data }: MessageEvent): void => {
    if (origin !== location.origin || source !== verifier || data !== 'verifier') return;
    removeEventListener('message', give);
    verifier.postMessage(file, location.origin);
  };
  addEventListener('message', give);
}
