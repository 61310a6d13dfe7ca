/**
 * A process that ends while the worker thread is inside of the database. Without the exit gate, `@photostructure/sqlite`
 * aborts in a fifth to a half of these runs.
 */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runScript, temporaryFolder } from './sqlite-harness.js'

const RUNS = 12

/** Runs `start`, then writes all the time; `end` is called by the nth of its answers. */
const writing = (path: string, nth: number, end: string, start: string) => `
  ${start}
  const store = await open({ path: ${JSON.stringify(path)} })
  const end = () => { ${end} }
  let answered = 0
  const write = async (writer) => {
    for (let one = 0; ; one += 1) {
      await store.tokens.issue(token('h'.repeat(500) + writer + '-' + one))
      if (++answered === ${nth}) setImmediate(end)
    }
  }
  for (let writer = 0; writer < 300; writer += 1) void write(writer)
`

/** Ends this many processes, each a little later than the one before; returns how they ended. */
async function endings(end: string, start = ''): Promise<readonly unknown[]> {
  const codes = new Set<unknown>()
  for (let run = 0; run < RUNS; run += 1) {
    const { code } = await runScript(writing(join(temporaryFolder(), 'x.db'), 1 + run * 70, end, start))
    codes.add(code)
  }
  return [...codes]
}

describe('a process that ends while SQLite writes', () => {
  it('has the exit code of process.exit()', async () => {
    expect(await endings('process.exit(7)')).toEqual([7])
  })

  it('has the exit code of a listener of its end', async () => {
    expect(await endings('process.exit()', "process.on('exit', () => process.exit(8))")).toEqual([8])
  })

  it('has the exit code of an uncaught exception', async () => {
    expect(await endings("throw new Error('uncaught')")).toEqual([1])
  })

  it('has the exit code of process.exit() while the file is opened or closed', async () => {
    const codes = new Set<unknown>()
    for (let run = 0; run < RUNS; run += 1) {
      const path = JSON.stringify(join(temporaryFolder(), 'x.db'))
      const opening = await runScript(
        `void open({ path: ${path} }); setTimeout(() => process.exit(7), ${run * 8})`,
      )
      const closing = await runScript(`
        const store = await open({ path: ${path} })
        for (let one = 0; one < 300; one += 1) void store.tokens.issue(token('t' + one)).catch(() => {})
        void store.close()
        setTimeout(() => process.exit(7), ${run})
      `)
      codes.add(opening.code).add(closing.code)
    }
    expect([...codes]).toEqual([7])
  })

  it('goes on if the host emits the event without ending', async () => {
    const { stdout } = await runScript(`
      const before = process.listenerCount('exit')
      const store = await open({ path: ${JSON.stringify(join(temporaryFolder(), 'x.db'))} })
      process.emit('exit', 0)
      await store.tokens.issue(token('later'))
      await print((await store.tokens.read('later')).hash)
      await store.close()
      await print(String(process.listenerCount('exit') - before))
    `)
    expect(stdout).toBe('later\n0\n')
  })
})
