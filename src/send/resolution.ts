/** Asks the DNS door, which may be the host's own: whatever it does, there is a resolution. */
import type { Resolution, Resolver } from '../ports.js'

/** One look-up. A resolver that throws or answers nonsense, against its promise, is `unreachable`. */
export async function resolved(resolver: Resolver, hostname: string, timeoutMs: number): Promise<Resolution> {
  try {
    const resolution = await resolver.resolve(hostname, timeoutMs)
    return isResolution(resolution)
      ? resolution
      : { kind: 'unreachable', detail: 'the resolver gave no valid answer' }
  } catch (error) {
    return { kind: 'unreachable', detail: `the resolver failed: ${String(error)}` }
  }
}

/** A resolver of the host's may answer anything; that is no fault of the receiver. */
function isResolution(answer: Resolution | undefined): answer is Resolution {
  if (answer?.kind !== 'addresses') return answer?.kind === 'missing' || answer?.kind === 'unreachable'
  return Array.isArray(answer.addresses) && answer.addresses.every((ip) => typeof ip === 'string')
}
