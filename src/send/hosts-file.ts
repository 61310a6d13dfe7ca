/** Reads the hosts file, which c-ares does not use: it only queries name servers. */
import { readFileSync, statSync } from 'node:fs'
import { parseAddress } from '../values/address.js'
import { normalizeHostname } from '../values/address-policy.js'

const MAX_BYTES = 1024 * 1024
const CHECK_INTERVAL_MS = 1_000

/** Parses a hosts file: every address of every name. Invalid lines are skipped. */
export function parseHostsFile(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>()
  for (const line of text.split(/\r?\n/)) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (!address || !parseAddress(address)) continue
    for (const name of names) {
      const host = normalizeHostname(name)
      const addresses = hosts.get(host)
      if (addresses) addresses.push(address)
      else hosts.set(host, [address])
    }
  }
  return hosts
}

/** Path of the system's hosts file. */
export function defaultHostsFile(): string {
  const windows = process.env.SystemRoot
  return process.platform === 'win32' && windows ? `${windows}\\System32\\drivers\\etc\\hosts` : '/etc/hosts'
}

/**
 * Creates a lookup in a hosts file. The file is checked for changes at most once a second and read again when it has
 * changed. A file that is missing, unreadable or larger than 1 MiB counts as empty.
 *
 * Deliberately synchronous: asynchronous file calls queue in libuv's pool behind the host's own work, and this is a
 * small local file.
 */
export function createHostsFileLookup(path: string): (hostname: string) => readonly string[] {
  let hosts: ReadonlyMap<string, readonly string[]> = new Map()
  let version = ''
  let checkedMs = Number.NEGATIVE_INFINITY

  function refresh(): void {
    try {
      const { mtimeMs, ctimeMs, ino, size } = statSync(path)
      const currentVersion = `${mtimeMs} ${ctimeMs} ${ino} ${size}`
      if (currentVersion !== version)
        hosts = size > MAX_BYTES ? new Map() : parseHostsFile(readFileSync(path, 'utf8'))
      version = currentVersion
    } catch {
      hosts = new Map()
      version = ''
    }
    checkedMs = performance.now()
  }

  return (hostname) => {
    if (performance.now() - checkedMs > CHECK_INTERVAL_MS) refresh()
    return hosts.get(normalizeHostname(hostname)) ?? []
  }
}
