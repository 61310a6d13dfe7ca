/** Reads the hosts file, which c-ares does not use: it only queries name servers. */
import { parseAddress } from '../values/address.js'
import { normalizeHostname } from '../values/address-policy.js'
import { createSystemFile } from './system-file.js'

/** Parses a hosts file: every address of every name. Invalid lines are skipped. @internal */
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

/** Creates a lookup in a hosts file: every address of a name. */
export function createHostsFileLookup(path: string): (hostname: string) => readonly string[] {
  const hosts = createSystemFile(path, parseHostsFile)
  return (hostname) => hosts().get(normalizeHostname(hostname)) ?? []
}
