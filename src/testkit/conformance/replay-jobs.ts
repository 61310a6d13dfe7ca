import assert from 'node:assert/strict'
import type { StoredReplay } from '../../delivery/replay-store.js'
import { type DefineRule, type Fixture, idsOf, readPages } from './fixture.js'
import { freshEventId, newReplayJob, WALL_MS } from './sample-data.js'

async function create({ store }: Fixture, ...jobs: Partial<StoredReplay>[]): Promise<StoredReplay[]> {
  const made = jobs.map(newReplayJob)
  for (const job of made) await store.replays.create(job)
  return made
}

/** The next revision of a job, changed. */
const revised = (job: StoredReplay, change: Partial<StoredReplay>): StoredReplay => ({
  ...job,
  revision: job.revision + 1,
  ...change,
})

/** The ids of a list. */
const listAll = async ({ store }: Fixture, accountId?: string) =>
  idsOf(
    await readPages<StoredReplay>((last, limit) =>
      store.replays.list({
        ...(accountId !== undefined && { accountId }),
        ...(last && { after: last }),
        limit,
      }),
    ),
  )

/** Rules of replay jobs. */
export function replayJobRules(rule: DefineRule): void {
  rule('a job is read as it was created', async (fixture) => {
    const doc = JSON.stringify({ name: 'Zoë "\u{1f4de}" \u0000\\', text: 'x'.repeat(65_400) })
    const ofOperators: StoredReplay = {
      id: freshEventId(),
      state: 'cancelled',
      createdMs: WALL_MS,
      endedMs: WALL_MS + 1,
      revision: 1,
      doc,
    }
    await fixture.store.replays.create(ofOperators)
    const [job] = await create(fixture, {})
    assert.deepEqual(await fixture.store.replays.read(ofOperators.id), ofOperators)
    assert.deepEqual(await fixture.store.replays.read(job!.id), job)
    assert.equal(await fixture.store.replays.read(freshEventId()), undefined)
  })

  rule('a job that is created again stays as it is', async (fixture) => {
    const { replays } = fixture.store
    const [job] = await create(fixture, {})
    await replays.create({ ...job!, doc: '{}' })
    assert.deepEqual(await replays.read(job!.id), job)
    const changed = revised(job!, { state: 'paused' })
    assert.equal(await replays.replace(changed), true)
    await replays.create(job!)
    assert.deepEqual(await replays.read(job!.id), changed)
  })

  rule('replace needs the revision before, and an existing job', async (fixture) => {
    const { replays } = fixture.store
    const [job, other] = await create(fixture, {}, {})
    const next = revised(job!, { state: 'completed', endedMs: WALL_MS + 5, doc: '{"done":1}' })
    assert.equal(await replays.replace({ ...next, revision: 3 }), false)
    assert.equal(await replays.replace({ ...next, revision: 1 }), false)
    assert.deepEqual(await replays.read(job!.id), job)
    assert.equal(await replays.replace(next), true)
    assert.equal(await replays.replace(next), false, 'it is stored already')
    assert.deepEqual(await replays.read(job!.id), next)
    assert.deepEqual(await replays.read(other!.id), other)
    assert.equal(await replays.replace(revised(newReplayJob(), {})), false)
  })

  rule('of two writers that replace a job at the same time one succeeds', async (fixture) => {
    const { replays } = fixture.store
    let [job] = await create(fixture, {})
    for (let round = 0; round < 20; round += 1) {
      const nexts = ['one', 'two'].map((writer) => revised(job!, { doc: JSON.stringify({ writer, round }) }))
      const results = await Promise.all(nexts.map((next) => replays.replace(next)))
      assert.deepEqual(results.toSorted(), [false, true])
      job = nexts[results.indexOf(true)]!
      assert.deepEqual(await replays.read(job.id), job)
    }
  })

  rule('jobs are listed newest first, those of one time by id descending, page by page', async (fixture) => {
    const made = await create(fixture, ...[3, 1, 2, 2, 2, 1].map((step) => ({ createdMs: WALL_MS + step })), {
      createdMs: WALL_MS + 4,
      state: 'completed',
      endedMs: WALL_MS + 9,
    })
    const sorted = made.toSorted((a, b) => b.createdMs - a.createdMs || (a.id < b.id ? 1 : -1))
    assert.deepEqual(await listAll(fixture), idsOf(sorted))
    assert.deepEqual(await fixture.store.replays.list({ limit: 1 }), [sorted[0]])
  })

  rule('a list of an account has neither jobs of other accounts nor of the operators', async (fixture) => {
    const [first, second, , other] = await create(
      fixture,
      { createdMs: WALL_MS + 1 },
      { createdMs: WALL_MS + 3 },
      { createdMs: WALL_MS + 2, accountId: 'stranger' },
      { createdMs: WALL_MS + 4, accountId: 'other' },
    )
    const { accountId: _none, ...ofOperators } = newReplayJob({ createdMs: WALL_MS + 2 })
    await fixture.store.replays.create(ofOperators)
    assert.deepEqual(await listAll(fixture, 'account'), [second!.id, first!.id])
    assert.deepEqual(await listAll(fixture, 'other'), [other!.id])
    assert.deepEqual(await listAll(fixture, 'unknown'), [])
    assert.equal((await listAll(fixture)).length, 5)
  })

  rule('unfinished jobs run or are paused, and are listed oldest first', async (fixture) => {
    const { replays } = fixture.store
    const [late, early, done, middle] = await create(
      fixture,
      { createdMs: WALL_MS + 5, accountId: 'other' },
      { createdMs: WALL_MS + 1, state: 'paused' },
      { createdMs: WALL_MS, state: 'cancelled', endedMs: WALL_MS },
      { createdMs: WALL_MS + 3 },
    )
    assert.deepEqual(await replays.unfinished(9), [early, middle, late])
    assert.deepEqual(await replays.unfinished(2), [early, middle])
    const ended = revised(middle!, { state: 'completed', endedMs: WALL_MS + 9 })
    assert.equal(await replays.replace(ended), true)
    const resumed = revised(early!, { state: 'running' })
    assert.equal(await replays.replace(resumed), true)
    assert.deepEqual(await replays.unfinished(9), [resumed, late])
    assert.ok(await replays.read(done!.id))
  })

  rule('prune removes only jobs that ended before a time, up to the limit', async (fixture) => {
    const { replays } = fixture.store
    const endedAt = (ms: number): Partial<StoredReplay> => ({ state: 'completed', endedMs: WALL_MS + ms })
    const [, , , kept, running, paused] = await create(
      fixture,
      endedAt(1),
      endedAt(2),
      { ...endedAt(3), state: 'cancelled' },
      endedAt(4),
      {},
      { state: 'paused' },
    )
    const beforeMs = WALL_MS + 4
    assert.equal(await replays.prune(WALL_MS + 1, 9), 0)
    assert.equal(await replays.prune(beforeMs, 2), 2)
    assert.equal(await replays.prune(beforeMs, 2), 1)
    assert.equal(await replays.prune(beforeMs, 2), 0)
    assert.deepEqual((await listAll(fixture)).toSorted(), idsOf([kept!, running!, paused!]).toSorted())
  })

  rule('erase removes all jobs of an account, up to the limit', async (fixture) => {
    const { replays } = fixture.store
    const [, , , other] = await create(
      fixture,
      {},
      { state: 'paused' },
      { state: 'completed', endedMs: WALL_MS + 1 },
      { accountId: 'other' },
    )
    const { accountId: _none, ...ofOperators } = newReplayJob()
    await replays.create(ofOperators)
    assert.equal(await replays.erase('unknown', 9), 0)
    assert.equal(await replays.erase('account', 2), 2)
    assert.equal(await replays.erase('account', 2), 1)
    assert.equal(await replays.erase('account', 2), 0)
    assert.deepEqual((await listAll(fixture)).toSorted(), idsOf([other!, ofOperators]).toSorted())
    assert.equal((await replays.unfinished(9)).length, 2)
  })
}
