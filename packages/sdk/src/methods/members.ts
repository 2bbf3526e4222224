import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import type { GetLeaderboardAnswer, Member, VerifyMemberAnswer } from './documents.ts';
import type { LimitParams } from './log.ts';
import { read, send } from './read.ts';

/** DIDs that are registered for a share of what compression saves (specification 3.2). */
export interface MemberMethods {
  /** Registers a DID: free, without proof, and repeatable. @throws ServiceError (invalid_did, handle_taken, rate_limited) */
  registerMember(params: RegisterMemberParams, call?: CallOptions): Promise<Member>;
  /** Lists members, most completed jobs first. @param params `limit`: 1 to 100; 10 when absent */
  getLeaderboard(params?: LimitParams, call?: CallOptions): Promise<GetLeaderboardAnswer>;
  /** Looks up a DID, which need not be registered. */
  verifyMember(did: string, call?: CallOptions): Promise<VerifyMemberAnswer>;
}

export interface RegisterMemberParams {
  readonly did: string;
  /** 3 to 32 lower-case letters and digits, with single hyphens between. */
  readonly handle?: string | undefined;
}

const PATH = '/v1/compute/member';

export function memberMethods(transport: Transport): MemberMethods {
  return {
    registerMember: ({ did, handle }, call) => send(transport, `${PATH}/register`, { did, handle }, call),
    getLeaderboard: ({ limit } = {}, call) => read(transport, `${PATH}/leaderboard`, call, { limit }),
    verifyMember: async (did, call) => read(transport, `${PATH}/verify/${pathPart(did, 'did')}`, call),
  };
}
