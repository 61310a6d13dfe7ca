/** What most tests of the command line need: a folder for each test, and streams that remember what was written. */
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'

/** The folder of the running test, removed after it. */
export interface TestFolder {
  readonly path: string
  /** Writes a file, an object as JSON, and returns its path. */
  write(name: string, content: unknown): Promise<string>
}

/** Gives each test of the file a folder. */
export function testFolder(): TestFolder {
  let path = ''
  beforeEach(async () => {
    path = await realpath(await mkdtemp(join(tmpdir(), 'cli-')))
  })
  afterEach(() => rm(path, { recursive: true, force: true }))
  return {
    get path() {
      return path
    },
    async write(name, content) {
      const file = join(path, name)
      await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
      return file
    },
  }
}

/** Streams and environment of the program, with its output. */
export function testIo(env: Readonly<Record<string, string>> = {}) {
  const written = { stdout: '', stderr: '' }
  const sink = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      written[name] += text
    },
  })
  return { io: { stdout: sink('stdout'), stderr: sink('stderr'), env }, written }
}
