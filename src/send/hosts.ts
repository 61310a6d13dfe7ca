/** The hosts file, read by ourselves: c-ares asks only name servers. */
import { readFileSync, statSync } from 'node:fs'
import { parseAddress } from '../values/address.js'
import { bareHost } from '../values/address-policy.js'

const MAX_BYTES = 1024 * 1024
const CHECK_EVERY_MS = 1_000

/** Every address of every name in the text of a hosts file; lines that make no sense are passed over. */
export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const line of text.split(/\r?\n/)) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (!address || !parseAddress(address)) continue
    for (const name of names) {
      const host = bareHost(name)
      const known = found.get(host)
      if (known) known.push(address)
      else found.set(host, [address])
    }
  }
  return found
}

export function defaultHostsFile(): string {
  const windows = process.env.SystemRoot
  return process.platform === 'win32' && windows ? `${windows}\\System32\\drivers\\etc\\hosts` : '/etc/hosts'
}

/**
 * Looks names up in a hosts file, which is looked at again at most once a second and read again when it has changed.
 * A file that is missing, unreadable or above 1 MiB counts as empty.
 *
 * Synchronous on purpose: the asynchronous calls queue in libuv's pool behind whatever the host does there, and this
 * is a small local file.
 */
export function hostsFile(path: string): (hostname: string) => readonly string[] {
  let hosts: ReadonlyMap<string, readonly string[]> = new Map()
  let version = ''
  let lookedMs = Number.NEGATIVE_INFINITY

  function look(): void {
    try {
      const { mtimeMs, ctimeMs, ino, size } = statSync(path)
      const seen = `${mtimeMs} ${ctimeMs} ${ino} ${size}`
      if (seen !== version) hosts = size > MAX_BYTES ? new Map() : parseHosts(readFileSync(path, 'utf8'))
      version = seen
    } catch {
      hosts = new Map()
      version = ''
    }
    lookedMs = performance.now()
  }

  return (hostname) => {
    if (performance.now() - lookedMs > CHECK_EVERY_MS) look()
    return hosts.get(bareHost(hostname)) ?? []
  }
}
