import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { closeAfterEach, later, localSender, post } from './hostile.js'
import { PESTS, pests } from './pests.js'

closeAfterEach()

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
setFlagsFromString('--no-expose-gc')

/** What is alive, in MiB: buffers of sockets and bodies are external. */
function alive(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

it('two hundred receivers that pour out at once fill no memory, during it or after', async () => {
  const port = await pests()
  const sender = localSender()
  const attack = async () => {
    const sent = Array.from({ length: 200 }, (_, n) =>
      sender.send(post(`http://pest${n}.test:${port}/${PESTS[n % PESTS.length]}`, { deadlineMs: 1_000 })),
    )
    return await Promise.all(sent)
  }
  await attack()
  const before = alive()
  let most = before
  const watching = setInterval(() => {
    most = Math.max(most, alive())
  }, 100)
  later(() => clearInterval(watching))
  const kept: unknown[] = []
  for (let round = 0; round < 3; round++) kept.push(...(await attack()))
  clearInterval(watching)
  expect(kept).toHaveLength(600)
  // Kept and in work for each: 8 KiB of body, 64 KiB read, 16 KiB of headers. Unbounded it is hundreds of MiB.
  expect(most - before).toBeLessThan(64)
  kept.length = 0
  // Buffers of sockets that were just cut off are given back in a later turn.
  await expect.poll(() => alive() - before).toBeLessThan(8)
  if (process.env.MEASURE)
    console.log({ before, most, after: alive(), rss: process.memoryUsage.rss() / 2 ** 20 })
})
