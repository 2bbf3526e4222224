import type { JsonObject } from '@tallystick/core';
import type { SpokenProtocol } from '../protocols/protocol.ts';
import { type ReadError, requireSuccess } from './answers.ts';
import type { Reply } from './reply.ts';
import { type Outgoing, openTransport } from './transport.ts';
import { defaultTimeouts, type Timeouts } from './watch.ts';

/** Where an upstream is and how to be let in; from the operator's configuration only. */
export interface UpstreamOptions {
  /** What it is called in the catalogue and in errors. */
  readonly name: string;
  /** With the path that its API is under, as its own SDK takes it. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly timeouts?: Partial<Timeouts>;
  /** The protocols beside its own in which it takes calls; none when absent. */
  readonly speaks?: readonly SpokenProtocol[];
}

interface UpstreamWire {
  /** Headers of every call, for an API key or for none; when absent the Bearer scheme. */
  readonly headers?: (apiKey: string | null) => Readonly<Record<string, string>>;
  /** What the body of a failure says, in OpenAI's form; when absent OpenAI's own. */
  readonly readError?: ReadError;
}

interface UpstreamCall extends Pick<Outgoing, 'signal' | 'trace'> {
  /** Whether the answer comes piece by piece; when absent what the body's `stream` says. */
  readonly streamed?: boolean;
  /** Headers of this call alone. They replace none of the upstream's own. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A provider's API: JSON that is posted to its paths. */
export interface Upstream {
  /** What must not be passed on of the provider's own words. */
  readonly secrets: readonly string[];
  /**
   * @param path put after the path of the base URL
   * @param body sent as it is if it is a text
   * @throws ProviderError, for another status than 200 too
   */
  readonly post: (path: string, body: JsonObject | string, call: UpstreamCall) => Promise<Reply>;
  readonly close: () => Promise<void>;
}

/** @throws TypeError for a base URL that is none, or that holds credentials */
export function openUpstream(
  { name, baseUrl, apiKey, timeouts }: UpstreamOptions,
  { headers = bearer, readError }: UpstreamWire = {},
): Upstream {
  const secrets = apiKey === null ? [] : [apiKey];
  const transport = openTransport({
    name,
    baseUrl,
    headers: headers(apiKey),
    timeouts: { ...defaultTimeouts, ...timeouts },
  });
  return {
    secrets,
    async post(path, json, { signal, trace, headers = {}, ...call }) {
      const { streamed = typeof json === 'object' && json['stream'] === true } = call;
      const body = typeof json === 'string' ? json : JSON.stringify(json);
      const outgoing = { path, body, streamed, signal, trace: { ...headers, ...trace } };
      return requireSuccess(name, await transport.post(outgoing), secrets, readError);
    },
    close: () => transport.close(),
  };
}

function bearer(apiKey: string | null): Record<string, string> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}
