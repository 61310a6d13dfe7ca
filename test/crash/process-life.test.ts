/** When a process ends by itself that has an instance and nothing else. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'process-life-'))
afterAll(() => rmSync(folder, { recursive: true }))

const server = await postgresForTests()

const STORES = {
  memory: 'memoryStore()',
  sqlite: `sqliteStore({ path: ${JSON.stringify(join(folder, 'x.db'))} })`,
  ...(server && {
    postgres: `postgresStore({ connectionString: '${server.url}', schema: '${server.freshSchema()}' })`,
  }),
}

/** Runs a program with an instance `hs` in a child process, and waits until it exits. */
async function outputOf(store: string, options: string, program: string): Promise<string> {
  const source = `
    import { createHookswitch, memoryStore } from 'hookswitch'
    import { postgresStore } from 'hookswitch/postgres'
    import { sqliteStore } from 'hookswitch/sqlite'
    const hs = createHookswitch({ store: ${store}, secret: 'a secret of this test', ${options} })
    process.on('exit', () => console.log('exit'))
    await hs.start()
    console.log('started')
    const { id } = await hs.accounts.create({ name: 'Acme', realm: Math.random() + '.example' })
    await hs.webhooks.create(id, { name: 'w', uri: 'https://nobody.invalid/', hook: 'all' })
    await hs.publish({ hook: 'channel_create', accountId: id, callId: 'c' })
    console.log('published')
    ${program}`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source], {
    cwd: root,
  })
  return stdout.trimEnd().replaceAll('\n', ', ')
}

describe.each(Object.entries(STORES))('a process with an instance on a %s store', (_name, store) => {
  it('ends when it has nothing else to do, although a delivery waits', async () => {
    expect(await outputOf(store, '', '')).toBe('started, published, exit')
  })

  it('with the option ref lives until the instance is closed', async () => {
    // The timer is unref'ed: without the option the process would end before it fires.
    const program = `setTimeout(() => { console.log('later'); hs.close({ drainMs: 0 }) }, 500).unref()`
    expect(await outputOf(store, 'ref: true,', program)).toBe('started, published, later, exit')
  })
})

it('a start that fails does not keep the process alive, with the option ref either', async () => {
  const source = `
    import { createHookswitch, memoryStore } from 'hookswitch'
    const open = async () => { throw new Error('no disk') }
    const hs = createHookswitch({ store: { ...memoryStore(), open }, ref: true })
    hs.start().catch(({ message }) => console.log(message))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source], {
    cwd: root,
  })
  expect(stdout).toBe('no disk\n')
})

it('a start without the option ref is completed', async () => {
  const source = `
    import { createHookswitch, memoryStore } from 'hookswitch'
    const store = memoryStore()
    const open = async (deps) => {
      await new Promise((resolve) => setTimeout(resolve, 200).unref())
      await store.open(deps)
    }
    const hs = createHookswitch({ store: { ...store, open } })
    await hs.start()
    console.log('started')`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source], {
    cwd: root,
  })
  expect(stdout).toBe('started\n')
})

it('a close without the option ref is completed', async () => {
  const source = `
    import { createHookswitch, memoryStore } from 'hookswitch'
    const store = memoryStore()
    const close = () => new Promise((resolve) => setTimeout(resolve, 200).unref())
    const hs = createHookswitch({ store: { ...store, close } })
    await hs.start()
    await hs.close()
    console.log('closed')`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source], {
    cwd: root,
  })
  expect(stdout).toBe('closed\n')
})
