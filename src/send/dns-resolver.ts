/**
 * The default resolver: c-ares with a time limit and cancellation, never `dns.lookup`.
 *
 * `dns.lookup` runs in libuv's pool of four threads, two lookups at a time: six dead names delayed a lookup of localhost,
 * and the host's own file access, for more than 25 s. c-ares uses its own sockets.
 */
import { Resolver as CaresResolver } from 'node:dns'
import type { Resolution, Resolver } from '../ports.js'
import { parseAddress } from '../values/address.js'
import { isLocalhost, normalizeHostname } from '../values/address-policy.js'
import { createHostsFileLookup, defaultHostsFile } from './hosts-file.js'
import { parseResolvConf, searchNames } from './search-domains.js'
import { createSystemFile } from './system-file.js'

/** More addresses than any legitimate answer has; further ones are neither checked nor connected to. */
const MAX_ADDRESSES = 1_000
/** How long one address family waits for the other once it has addresses (RFC 8305, section 3: at least 50 ms). */
const OTHER_FAMILY_MS = 250

export interface DnsResolverOptions {
  /** Name servers as `address` or `address:port`. Default: the system's, read again for each lookup. */
  readonly servers?: readonly string[]
  /** Limit of one lookup in ms. Default 5,000: below an attempt's deadline, so that a dead name is reported as such. */
  readonly lookupMs?: number
  /** Concurrent lookups. Default 256; further ones wait. */
  readonly concurrency?: number
  /** Path of the hosts file. Default: the system's. */
  readonly hostsPath?: string
  /** Path of the file with the search domains. Default: /etc/resolv.conf. */
  readonly resolvConfPath?: string
}

const missing = (detail: string): Resolution => ({ kind: 'missing', detail })
const nameServerFailed = (detail: string): Resolution => ({ kind: 'missing', detail, cause: 'name_server' })
const unreachable = (detail: string): Resolution => ({ kind: 'unreachable', detail })

/** The result of one name. */
interface Lookup {
  readonly resolution: Resolution
  /** Whether, as in glibc, the next search domain is tried after it. */
  readonly goesOn?: boolean
}

/** Which failure of several names is reported: the fault of a server rather than that a name does not exist. */
function severityOf(resolution: Resolution): number {
  if (resolution.kind !== 'missing') return 2
  return resolution.cause === 'name_server' ? 1 : 0
}

/**
 * Creates the resolver. A failed lookup is attributed as follows:
 * - no such name, no address: the name's owner (`missing`). SERVFAIL, REFUSED, a malformed response: its name server
 *   (`missing` too, with that cause).
 * - the name server's port is closed, or none is configured: an internal fault (`unreachable`).
 * - silence is ambiguous: a dead zone or a dead name server. So the root is queried as well. Any response to that, even
 *   an error, proves that the name server works, so the silence is the name's; without one it is an internal fault.
 *
 * A name is also looked up in the search domains of resolv.conf, in glibc's order and within the same limit.
 */
export function createDnsResolver(options: DnsResolverOptions = {}): Resolver {
  const { lookupMs = 5_000, concurrency = 256, servers } = options
  const lookupInHostsFile = createHostsFileLookup(options.hostsPath ?? defaultHostsFile())
  const searchRules = createSystemFile(options.resolvConfPath ?? '/etc/resolv.conf', parseResolvConf)
  const active = new Set<() => void>()
  const waiting = new Set<(isGranted: boolean) => void>()
  let slotsUsed = 0
  let isClosed = false

  /** Acquires a slot or waits for one; `false` when the time runs out first. */
  async function acquireSlot(ms: number): Promise<boolean> {
    if (slotsUsed < concurrency) {
      slotsUsed += 1
      return true
    }
    let timer: NodeJS.Timeout | undefined
    const isGranted = await new Promise<boolean>((resolve) => {
      waiting.add(resolve)
      timer = setTimeout(() => waiting.delete(resolve) && resolve(false), ms)
    })
    clearTimeout(timer)
    return isGranted
  }

  /** Passes the slot to the longest-waiting lookup, if any. */
  function releaseSlot(): void {
    for (const grant of waiting) {
      waiting.delete(grant)
      grant(true)
      return
    }
    slotsUsed -= 1
  }

  /** Looks up the names that the search domains make of a host name, until one has addresses. */
  async function search(hostname: string, dueMs: number): Promise<Resolution> {
    const names = searchNames(hostname, searchRules())
    const asItStands = names.indexOf(normalizeHostname(hostname))
    let failure: Resolution | undefined
    for (let index = 0; index < names.length && !isClosed; index++) {
      const leftMs = Math.max(1, dueMs - performance.now())
      // A search domain that does not answer leaves time for the name as it stands.
      const { resolution, goesOn } = await lookup(names[index]!, index < asItStands ? leftMs / 2 : leftMs)
      if (resolution.kind === 'addresses') return resolution
      if (!failure || (asItStands > 0 && severityOf(resolution) > severityOf(failure))) failure = resolution
      if (goesOn) continue
      if (index >= asItStands) break
      // Only the name as it stands is left to try.
      index = asItStands - 1
    }
    return failure ?? unreachable('the resolver is closed')
  }

  function lookup(name: string, ms: number): Promise<Lookup> {
    return new Promise((resolve) => {
      // One instance per lookup (20 µs): `cancel` ends all queries of an instance, and changes of resolv.conf are seen.
      const cares = new CaresResolver({ timeout: 2_000, tries: 4 })
      if (servers) cares.setServers(servers)
      const families: FamilyResult[] = [undefined, undefined]
      let isServerAlive = false
      let timer = setTimeout(end, ms)
      const probe = setTimeout(() => cares.resolveNs('.', onResponse), ms / 3)
      active.add(end)
      cares.resolve4(name, (error, addresses) => onFamily(0, error, addresses))
      cares.resolve6(name, (error, addresses) => onFamily(1, error, addresses))

      function end(): void {
        if (!active.delete(end)) return
        clearTimeout(timer)
        clearTimeout(probe)
        cares.cancel()
        resolve(conclude(families, isServerAlive))
      }

      function onResponse(error: NodeJS.ErrnoException | null): void {
        isServerAlive ||= isServerResponse(error?.code)
      }

      function onFamily(
        family: 0 | 1,
        error: NodeJS.ErrnoException | null,
        addresses: readonly string[],
      ): void {
        if (!active.has(end)) return
        onResponse(error)
        families[family] = error ? (error.code ?? 'EUNKNOWN') : addresses
        const hasBoth = families[1 - family] !== undefined
        // After a timeout, wait for the response to the probe.
        if (hasBoth && (isServerAlive || !families.includes('ETIMEOUT'))) end()
        if (hasBoth || error) return
        clearTimeout(timer)
        timer = setTimeout(end, Math.min(OTHER_FAMILY_MS, ms))
      }
    })
  }

  return {
    async resolve(hostname, timeoutMs) {
      if (parseAddress(hostname)) return { kind: 'addresses', addresses: [hostname] }
      if (isLocalhost(hostname)) return { kind: 'addresses', addresses: ['127.0.0.1', '::1'] }
      const local = lookupInHostsFile(hostname)
      if (local.length > 0) return { kind: 'addresses', addresses: local.slice(0, MAX_ADDRESSES) }
      const limitMs = Math.min(timeoutMs, lookupMs)
      const dueMs = performance.now() + limitMs
      if (!(await acquireSlot(limitMs))) return unreachable('too many concurrent lookups')
      try {
        return await search(hostname, dueMs)
      } catch (error) {
        return unreachable(`no resolver: ${(error as Error).message}`)
      } finally {
        releaseSlot()
      }
    },
    close() {
      isClosed = true
      for (const grant of waiting) grant(false)
      waiting.clear()
      for (const end of [...active]) end()
    },
  }
}

/** The result of the A or AAAA query: addresses, an error code, or none yet. */
type FamilyResult = readonly string[] | string | undefined

/** Whether a result proves that a name server responded, if only to refuse. */
function isServerResponse(code: string | undefined): boolean {
  return (
    code === undefined ||
    !/^(ETIMEOUT|ECONNREFUSED|ECANCELLED|ENOMEM|EFILE|EDESTRUCTION|ENOTINITIALIZED)$/.test(code)
  )
}

function conclude(families: readonly FamilyResult[], isServerAlive: boolean): Lookup {
  const addresses = families.flatMap((family) => (typeof family === 'object' ? family : []))
  if (addresses.length > 0)
    return { resolution: { kind: 'addresses', addresses: addresses.slice(0, MAX_ADDRESSES) } }
  const codes = families.map((family) => (typeof family === 'string' ? family : 'ENODATA'))
  const isSilent = families.some((family) => family === undefined || family === 'ETIMEOUT')
  if (codes.includes('ENOTFOUND')) return { resolution: missing('no such host name'), goesOn: true }
  if (codes.some((code) => code !== 'ETIMEOUT' && !isServerResponse(code)))
    return { resolution: unreachable('the name server is unreachable') }
  if (isSilent)
    return {
      resolution: isServerAlive
        ? nameServerFailed('the name server does not answer for this host name')
        : unreachable('the name server does not respond'),
    }
  const failed = codes.find((code) => code !== 'ENODATA')
  if (!failed) return { resolution: missing('the host name has no address'), goesOn: true }
  return {
    resolution: nameServerFailed(`the name server answered ${failed}`),
    goesOn: failed === 'ESERVFAIL',
  }
}
