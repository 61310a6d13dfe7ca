import { readFileSync, statSync } from 'node:fs'

const MAX_BYTES = 1024 * 1024
const CHECK_INTERVAL_MS = 1_000

/**
 * Creates a reader of a small text file of the system. The file is checked for changes at most once a second and parsed
 * again when it has changed. A file that is missing, unreadable or larger than 1 MiB counts as empty.
 *
 * Deliberately synchronous: asynchronous file calls queue in libuv's pool behind the host's own work, and this is a
 * small local file.
 *
 * @param parse must not throw
 */
export function createSystemFile<T>(path: string, parse: (text: string) => T): () => T {
  let value = parse('')
  let version = ''
  let checkedMs = Number.NEGATIVE_INFINITY

  function refresh(): void {
    try {
      const { mtimeMs, ctimeMs, ino, size } = statSync(path)
      const currentVersion = `${mtimeMs} ${ctimeMs} ${ino} ${size}`
      if (currentVersion !== version) value = parse(size > MAX_BYTES ? '' : readFileSync(path, 'utf8'))
      version = currentVersion
    } catch {
      value = parse('')
      version = ''
    }
    checkedMs = performance.now()
  }

  return () => {
    if (performance.now() - checkedMs > CHECK_INTERVAL_MS) refresh()
    return value
  }
}
