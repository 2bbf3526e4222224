import { type Received, type ReceivedBody, Refusal } from '@tallystick/kit';
import { callerAccount, DEVELOPMENT, X402 } from '@tallystick/ledger';
import { AGENT_ERRORS, type Agent, type AgentDependencies, agentReader, carriesSignature } from './agents.ts';
import {
  API_KEY_ERRORS,
  type ApiKey,
  type CredentialDependencies,
  type Credentials,
  createCredentials,
} from './credentials.ts';

/** Who calls a model or reads about models: the API key, if there is one, and the agent that the call is counted under. */
export type Client = Agent & { readonly key: ApiKey | null };

/** A client that has an account to charge. */
export type Caller = Client & {
  /**
   * The ledger account that pays: of the API key, else of the DID that is proved, else `x402` where payments are on and
   * each call brings its own, else `development`.
   */
  readonly account: string;
  /** Whether whoever has no balance is served all the same: in development, with payments off. */
  readonly development: boolean;
};

/** A call whose API key was looked up before its body was read, or is looked up now. */
export interface ClientCall extends ReceivedBody {
  /** What `keyOf`, `admitCaller` or `admitPayer` gave; absent where none was asked. */
  readonly admitted?: ApiKey | null | undefined;
}

/** Tells who makes a request, of all kinds of callers (docs/glossary.md). */
export interface Callers extends Pick<Credentials, 'admit'> {
  /**
   * The agent of a request (spec/identity.md). A signature that is there is always checked, and good once: ask once a request.
   * @throws signature_invalid; invalid_field where `X-Agent-DID` is no DID
   */
  readonly agentOf: (call: ReceivedBody) => Promise<Agent>;
  /**
   * The API key of a client of models, by its headers alone; null where there is none.
   * @throws api_key_invalid, api_key_revoked, api_key_expired; with `WWW-Authenticate`
   */
  readonly keyOf: (call: Received) => Promise<ApiKey | null>;
  /** As `keyOf`. @throws api_key_missing too, where nothing names a caller whom `callerOf` could charge */
  readonly admitCaller: (call: Received) => Promise<ApiKey | null>;
  /** As `admitCaller`, of a call that an x402 payment may cover. */
  readonly admitPayer: (call: Received) => Promise<ApiKey | null>;
  /** Throws what `keyOf` and `agentOf` throw. */
  readonly clientOf: (call: ClientCall) => Promise<Client>;
  /** As `clientOf`. @throws api_key_missing too, with `WWW-Authenticate` */
  readonly callerOf: (call: ClientCall) => Promise<Caller>;
  /** As `callerOf`, of a call that an x402 payment may cover, whoever makes it. */
  readonly payerOf: (call: ClientCall) => Promise<Caller>;
}

/** The codes that `callerOf` throws, for the endpoints that use it. */
export const CALLER_ERRORS = [...API_KEY_ERRORS, ...AGENT_ERRORS] as const;

export function createCallers(
  dependencies: AgentDependencies & CredentialDependencies,
  { development, payments }: { readonly development: boolean; readonly payments: boolean },
): Callers {
  const { admit, keyOfClient } = createCredentials(dependencies);
  const agentOf = agentReader(dependencies);
  const stranger = development ? DEVELOPMENT : null;
  const payer = payments ? X402 : stranger;
  const keyOf: Callers['keyOf'] = (call) => keyOfClient(call, { ignoreStrangers: development });
  const clientOf: Callers['clientOf'] = async (call) => {
    const key = call.admitted === undefined ? await keyOf(call) : call.admitted;
    return { ...(await agentOf(call)), key };
  };
  const admitted = (otherwise: string | null) => async (call: Received) => {
    const key = await keyOf(call);
    if (key === null && otherwise === null && !carriesSignature(call.incoming)) throw unknownCaller();
    return key;
  };
  const charged = (otherwise: string | null) => async (call: ClientCall) => {
    const client = await clientOf(call);
    const named = client.key?.id ?? (client.proved ? client.did : null);
    const account = named === null ? otherwise : callerAccount(named);
    if (account === null) throw unknownCaller();
    return { ...client, account, development: development && !payments };
  };
  return {
    admit,
    agentOf,
    keyOf,
    admitCaller: admitted(stranger),
    admitPayer: admitted(payer),
    clientOf,
    callerOf: charged(stranger),
    payerOf: charged(payer),
  };
}

function unknownCaller(): Refusal {
  return new Refusal(
    'api_key_missing',
    'The call needs a payer: send Authorization: Bearer k_…, or X-Agent-DID proved by an HTTP message signature (RFC 9421; see spec/identity.md).',
    { bearer: 'missing' },
  );
}
