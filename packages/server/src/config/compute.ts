import type { ComputeConfig } from '@tallystick/inference';
import { checkCatalogue, ollamaUrl, readCatalogue } from '@tallystick/inference/catalogue';
import type { ConfigFile } from './file.ts';
import { type EnvReader, parseUrl } from './reader.ts';

const DAY_MS = 86_400_000;

/** @param aws what requests to AWS are signed with, as keys in AWS KMS are */
export function readCompute(read: EnvReader, file: ConfigFile, aws: ComputeConfig['aws']): ComputeConfig {
  const milliseconds = (name: string, fallback: number): number => read.integer(name, fallback, 10, DAY_MS);
  return {
    ...readProviders(read, file),
    aws,
    defaultMaxOutput: read.integer('TALLY_DEFAULT_MAX_TOKENS', 8_192, 1, 1_000_000),
    maxBodyBytes: read.integer('TALLY_CALL_MAX_BODY_BYTES', 10_485_760, 1_024, 1_073_741_824),
    maxStreamBytes: read.integer('TALLY_STREAM_MAX_BYTES', 67_108_864, 65_536, 1_073_741_824),
    maxCallMs: milliseconds('TALLY_CALL_TIMEOUT_MS', 1_800_000),
    timeouts: {
      firstByteMs: milliseconds('TALLY_FIRST_BYTE_TIMEOUT_MS', 60_000),
      answerMs: milliseconds('TALLY_ANSWER_TIMEOUT_MS', 300_000),
      idleMs: milliseconds('TALLY_IDLE_TIMEOUT_MS', 60_000),
    },
    ratingDays: read.integer('TALLY_RATING_DAYS', 7, 0, 90),
    ...readDays(read),
    retries: read.integer('TALLY_PROVIDER_RETRIES', 2, 0, 10),
    probesProviders: read.oneOf('TALLY_STATUS_PROBES', ['off', 'providers'], 'off') === 'providers',
    maxPriceAgeDays: read.integer('TALLY_PRICE_MAX_AGE_DAYS', 0, 0, 3_650),
    goneRestMs: milliseconds('TALLY_MODEL_GONE_REST_MS', 3_600_000),
  };
}

function readDays(read: EnvReader): Pick<ComputeConfig, 'callListDays' | 'keepContentDays'> {
  const keepContentDays = read.integer('TALLY_KEEP_CONTENT_DAYS', 0, 0, 3_650);
  const callListDays = read.integer('TALLY_CALL_LIST_DAYS', Math.max(365, keepContentDays), 0, 3_650);
  if (callListDays > 0 && keepContentDays > callListDays)
    read.faults.push(
      'TALLY_KEEP_CONTENT_DAYS must not be more than TALLY_CALL_LIST_DAYS: what is kept is read from the list of calls.',
    );
  return { callListDays, keepContentDays };
}

/** The operator's catalogue, with the addresses and the keys of the providers that it names or that are built in. */
function readProviders(read: EnvReader, file: ConfigFile): Pick<ComputeConfig, 'catalogue' | 'environment'> {
  const { catalogue, keyNames, addressNames, faults } = readCatalogue(file.catalogue);
  const environment = Object.fromEntries([
    ...addressNames.map((name) => [name, readUpstream(read, name)]),
    ...keyNames.map((name) => [name, read.secret(name) ?? undefined]),
  ]);
  const all = faults.length > 0 ? faults : checkCatalogue(environment, catalogue);
  read.faults.push(...all.map((fault) => `${file.path}: ${fault}`));
  return { catalogue, environment };
}

/** A fault does not quote the value, which may hold credentials. */
function readUpstream(read: EnvReader, name: string): string | undefined {
  const text = read.optional(name, {});
  if (text === null) return undefined;
  const url = name === 'OLLAMA_HOST' ? ollamaUrl(text) : parseUrl(text);
  const example = name === 'OLLAMA_HOST' ? '127.0.0.1:11434' : 'https://models.example.com/v1';
  if (url === null || !/^https?:$/.test(url.protocol))
    read.fault(name, 'is not an http:// or https:// URL', example);
  else if (url.username + url.password !== '') read.fault(name, 'contains credentials', example);
  else if (url.search + url.hash !== '') read.fault(name, 'has a query or a fragment', example);
  else return text;
  return undefined;
}
