import { linkSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteStore } from 'hookswitch/sqlite'
import { describe, expect, it } from 'vitest'
import { openStore, recordingLog, rejectionOf, temporaryFolder } from './sqlite-harness.js'

const storeOf = (path: string) => sqliteStore({ path, inThread: true })
const open = (path: string) => storeOf(path).open({ clock: {} as never, log: recordingLog() })

describe('a database file with two names', () => {
  it.each([
    ['in one folder', (folder: string) => join(folder, 'b.db')],
    ['in another folder', (folder: string) => join(folder, 'other', 'b.db')],
  ])('%s is locked by both, whichever is used first', async (_, secondOf) => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'other'))
    const [first, second] = [join(folder, 'a.db'), secondOf(folder)]
    const store = await openStore(storeOf(first))
    // While it is open: the lock cannot have been taken for this name.
    linkSync(first, second)
    expect(await rejectionOf(open(second))).toMatchObject({
      code: 'StoreUnavailable',
      message: expect.stringContaining(`${first} is in use by another process`),
    })
    await store.close()

    const log = recordingLog()
    const again = await openStore(storeOf(second), log)
    expect(log.lines.filter((line) => line.startsWith('warn'))).toEqual([
      expect.stringContaining(`${second} has 2 names (hard links), also ${first}: `),
    ])
    expect(await rejectionOf(open(first))).toMatchObject({ code: 'StoreUnavailable' })
    await again.close()
    await (await openStore(storeOf(first))).close()
  })

  it('does not open by one name while the log of the other has commits', async () => {
    const folder = temporaryFolder()
    const [first, second] = [join(folder, 'a.db'), join(folder, 'b.db')]
    await (await openStore(storeOf(first))).close()
    linkSync(first, second)
    writeFileSync(`${first}-wal`, 'commits')
    expect(await rejectionOf(open(second))).toMatchObject({
      code: 'StoreCorrupt',
      message: expect.stringContaining(`is also ${first}, whose log ${first}-wal has commits`),
    })
  })

  it('opens without a warning once the other name is gone, or under a new name', async () => {
    const folder = temporaryFolder()
    const [first, second] = [join(folder, 'a.db'), join(folder, 'b.db')]
    await (await openStore(storeOf(first))).close()
    renameSync(first, second)
    const log = recordingLog()
    await (await openStore(storeOf(second), log)).close()
    expect(log.lines).toEqual([])
  })
})
