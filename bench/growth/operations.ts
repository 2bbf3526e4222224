import { beginOf, idOf } from '../lists/rows.ts';
import { type Filled, leafAt } from './fill.ts';

export interface Service extends Filled {
  readonly url: string;
}

/** What a service is asked for, and how often in a round. */
export interface Operation {
  readonly name: string;
  readonly times: number;
  /** Times before those that count. */
  readonly warm: number;
  readonly ask: (service: Service) => Promise<void>;
}

/** Number of receipts in each export. */
const EXPORTED = 10_000;
let made = 0;

const random = ({ shape }: Service): number => Math.floor(Math.random() * shape.rows);
const hashAt = (index: number): string => leafAt(index).toString('base64url');
const isoOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

export const OPERATIONS: readonly Operation[] = [
  posting('a receipt issued, with its leaf', '/v1/receipt/emit', () => ({
    payload: { order: `${process.pid}-${made++}`, total: '19.90' },
    purpose: 'benchmark',
    anchor: true,
  })),
  posting('a receipt verified', '/v1/receipt/verify', ({ receipt }) => JSON.parse(receipt) as object),
  posting('a hash placed', '/v1/anchor', () => ({
    canonical_sha256: hashAt(-1 - made++ - process.pid * 1e6),
  })),
  getting('a receipt read', (service) => `/v1/receipt/${idOf(random(service), service.shape)}`),
  getting('a hash found, with its proof', (service) => `/v1/anchor/by-hash/${hashAt(random(service))}`),
  getting('the newest receipts listed', () => '/v1/receipts?limit=50'),
  getting(
    'receipts before a random time listed',
    ({ shape }) =>
      `/v1/receipts?limit=50&to=${isoOf(beginOf(shape) + Math.random() * (shape.until - beginOf(shape)))}`,
  ),
  getting('the anchored hashes listed', () => '/v1/anchors?limit=50'),
  getting(
    'receipts counted by day',
    ({ shape }) => `/v1/receipts/counts?bucket=day&from=${isoOf(beginOf(shape))}`,
    10,
  ),
  getting(
    `${EXPORTED.toLocaleString('en')} receipts exported`,
    ({ shape }) => {
      const step = (shape.until - beginOf(shape)) / shape.rows;
      const from = beginOf(shape) + Math.floor(Math.random() * (shape.rows - EXPORTED)) * step;
      return `/v1/receipts?format=ndjson&from=${isoOf(from)}&to=${isoOf(from + EXPORTED * step)}`;
    },
    3,
  ),
];

function posting(name: string, path: string, body: (service: Service) => object): Operation {
  return operation(name, 200, (service) => [path, body(service)]);
}

function getting(name: string, path: (service: Service) => string, times = 200): Operation {
  return operation(name, times, (service) => [path(service), null]);
}

function operation(
  name: string,
  times: number,
  request: (service: Service) => [string, object | null],
): Operation {
  return {
    name,
    times,
    warm: Math.ceil(times / 10),
    ask: async (service) => {
      const [path, body] = request(service);
      const answer = await fetch(service.url + path, {
        headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
        ...(body !== null && { method: 'POST', body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}: ${text}`);
    },
  };
}
