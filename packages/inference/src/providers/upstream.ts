import type { JsonObject } from '@tallystick/core';
import type { AwsCredentialSources } from '@tallystick/issuers';
import type { SpokenProtocol } from '../protocols/protocol.ts';
import type { AccessTokens, OAuthOptions } from './access-tokens.ts';
import { type ReadError, requireSuccess } from './answers.ts';
import { type ApiKey, ApiKeys } from './api-keys.ts';
import { failedWithin } from './failures.ts';
import type { ChatCall, ProviderError } from './provider.ts';
import { exhaustedMs } from './rate-limits.ts';
import type { Reply } from './reply.ts';
import { openTransport } from './transport.ts';
import { defaultTimeouts, type Timeouts } from './watch.ts';

/** Where an upstream is and how to be let in; from the operator's configuration only. */
export interface UpstreamOptions {
  /** What it is called in the catalogue and in errors. */
  readonly name: string;
  /** With the path that its API is under, as its own SDK takes it. */
  readonly baseUrl: string;
  /** Empty for a provider that needs none. */
  readonly apiKeys: readonly ApiKey[];
  /** Version of the API, where the URL names it (Azure). */
  readonly apiVersion?: string | null;
  /** Where the keys are exchanged for access tokens. */
  readonly oauth?: OAuthOptions | null;
  /** Region for which requests to AWS are signed, if the base URL does not say it. */
  readonly signingRegion?: string | null;
  /** What requests to AWS are signed with. */
  readonly aws?: AwsCredentialSources;
  readonly timeouts?: Partial<Timeouts>;
  /** The protocols beside its own in which it takes calls; none when absent. */
  readonly speaks?: readonly SpokenProtocol[];
}

type Headers = Readonly<Record<string, string>>;

/** What a signature of a request is made for. */
interface ToSign {
  readonly url: string;
  /** JSON. */
  readonly body: string;
}

/** What lets a call in. */
interface Credentials {
  readonly headers: Headers;
  /** What must not be passed on of the provider's own words. */
  readonly secrets: readonly string[];
}

export interface UpstreamWire {
  /** Exchanges the keys for what is sent. */
  readonly tokens?: AccessTokens | null;
  /** The header of the key or token; when absent `authorization` with the Bearer scheme. */
  readonly keyHeader?: string;
  /** Lets in calls without a key; when absent nothing is sent for them. @throws ProviderError */
  readonly sign?: ((call: ToSign) => Promise<Credentials>) | undefined;
  /** Headers of every call beside those. */
  readonly headers?: Headers;
  /** What the body of a failure says, in OpenAI's form; when absent OpenAI's own. */
  readonly readError?: ReadError;
}

interface UpstreamCall extends Pick<ChatCall, 'model' | 'signal' | 'trace'> {
  /** Whether the answer comes piece by piece; when absent what the body's `stream` says. */
  readonly streamed?: boolean;
  /** Headers of this call alone. They replace none of the upstream's own. */
  readonly headers?: Headers;
  /** Reads what the body of a failure says of this call. When absent, such a body is read as that of any other call. */
  readonly readError?: ReadError;
}

/** A provider's API: JSON that is posted to its paths. */
export interface Upstream {
  /**
   * With several API keys, one that is not admitted (401, 403, 429) is replaced by the next one within the call.
   * @param path put after the path of the base URL
   * @param body sent as it is if it is a text
   * @throws ProviderError, for another status than 200 too
   */
  readonly post: (path: string, body: JsonObject | string, call: UpstreamCall) => Promise<Reply>;
  /** The failure that the provider reports in a stream, or with a success, in OpenAI's form. */
  readonly failure: (error: JsonObject) => ProviderError;
  /** See `Provider`. */
  readonly limitedMs: (model: string) => number;
  readonly close: () => Promise<void>;
}

/** @throws TypeError for a base URL that is none, or that holds credentials */
export function openUpstream(
  { name, baseUrl, apiKeys, timeouts }: UpstreamOptions,
  { tokens = null, keyHeader, sign, headers = {}, readError }: UpstreamWire = {},
): Upstream {
  const keys = new ApiKeys(apiKeys);
  /** The secrets that were sent last with each key. */
  const sent = new Map<string | null, readonly string[]>();
  const secrets = (): string[] => [...keys.secrets, ...[...sent.values()].flat()];
  const letIn = async (key: string | null, call: ToSign): Promise<Credentials> => {
    if (key === null) return (await sign?.(call)) ?? { headers: {}, secrets: [] };
    const token = tokens === null ? key : await tokens.of(key);
    const header = keyHeader === undefined ? { authorization: `Bearer ${token}` } : { [keyHeader]: token };
    return { headers: header, secrets: [token] };
  };
  const transport = openTransport({ name, baseUrl, timeouts: { ...defaultTimeouts, ...timeouts } });
  return {
    post(path, json, { model, signal, trace, headers: own, readError: ownReader, ...call }) {
      const { streamed = typeof json === 'object' && json['stream'] === true } = call;
      const body = typeof json === 'string' ? json : JSON.stringify(json);
      return keys.use(model, async (key) => {
        const credentials = await letIn(key, { url: transport.urlOf(path), body });
        sent.set(key, credentials.secrets);
        const all = {
          ...own,
          ...trace,
          ...headers,
          ...credentials.headers,
          // Without it any encoding may come (RFC 9110, section 12.5.3), and a compressed answer can't be read.
          'accept-encoding': 'identity',
          'content-type': 'application/json',
        };
        const reply = await transport.post({ path, body, streamed, signal, headers: all });
        const restMs = exhaustedMs(reply.header, Date.now());
        if (restMs > 0) keys.limit(key, model, restMs);
        if (key !== null && reply.status === 401) tokens?.forget(key);
        return requireSuccess(name, reply, secrets(), ownReader ?? readError);
      });
    },
    failure: (error) => failedWithin(name, error, secrets()),
    limitedMs: (model) => keys.limitedMs(model),
    async close() {
      await Promise.all([transport.close(), tokens?.close()]);
    },
  };
}
