import type { Resolution, Resolver } from '../ports.js'

/**
 * Resolves a name with a resolver that may be the host's own. A resolver that throws or returns an invalid result
 * counts as `unreachable`, which is not charged to the receiver.
 */
export async function safeResolve(
  resolver: Resolver,
  hostname: string,
  timeoutMs: number,
): Promise<Resolution> {
  try {
    const resolution = await resolver.resolve(hostname, timeoutMs)
    return isResolution(resolution)
      ? resolution
      : { kind: 'unreachable', detail: 'the resolver returned an invalid result' }
  } catch (error) {
    return { kind: 'unreachable', detail: `the resolver failed: ${String(error)}` }
  }
}

function isResolution(result: Resolution | undefined): result is Resolution {
  if (result?.kind !== 'addresses') return result?.kind === 'missing' || result?.kind === 'unreachable'
  return Array.isArray(result.addresses) && result.addresses.every((ip) => typeof ip === 'string')
}
