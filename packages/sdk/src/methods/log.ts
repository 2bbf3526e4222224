import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import type { LogStatus } from './documents.ts';
import { read, readText } from './read.ts';

/** The anchor log in the C2SP formats, and what it says of itself. Needs no key. */
export interface LogMethods {
  /** Reads the log's name, key and size, and the time of its next posting. Nothing of it is signed. */
  getLogStatus(call?: CallOptions): Promise<LogStatus>;
  /** Reads the newest checkpoint, a C2SP signed note. @throws ServiceError (not_found while there is none) */
  getCheckpoint(call?: CallOptions): Promise<string>;
  /**
   * Reads a tile (C2SP tlog-tiles): hashes at `<level>/<index>`, 256 of them, or the entries at `entries/<index>`. A partial tile
   * ends in `.p/<width>`. What is at a path never changes.
   * @param path `0/000.p/1`
   * @throws ServiceError (not_found)
   */
  getTile(path: string, call?: CallOptions): Promise<Uint8Array>;
}

export interface LimitParams {
  readonly limit?: number | undefined;
}

export function logMethods(transport: Transport): LogMethods {
  return {
    getLogStatus: (call) => read(transport, '/v1/log', call),
    getCheckpoint: (call) => readText(transport, '/checkpoint', call),
    getTile: async (path, call) => {
      const escaped = path
        .split('/')
        .map((part) => pathPart(part, 'path'))
        .join('/');
      return transport.download(`/tile/${escaped}`, 'application/octet-stream', call);
    },
  };
}
