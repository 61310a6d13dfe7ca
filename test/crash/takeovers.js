// @ts-check
/**
 * Takeovers between two nodes: one is paused for longer than its lease (SIGSTOP), or killed, and the other takes over its
 * shards.
 */
import { createFastNodes } from './fast-nodes.js'
import { terminateNode } from './node-waits.js'

/**
 * @typedef {import('./nodes.js').NodeProcess} NodeProcess
 *
 * @param {object} options
 * @param {string} options.seed
 * @param {number} options.times
 * @param {import('./test-store.js').TestStore} options.store
 */
export async function runTakeovers({ seed, times, store }) {
  const nodes = await createFastNodes({ seed, store })
  const { history, progress, startNode } = nodes

  /**
   * Waits until both nodes deliver, makes one fail, and waits until the other delivers to its webhooks too.
   *
   * @param {NodeProcess} failing
   * @param {NodeProcess} other
   * @param {() => unknown} fail
   */
  async function takeOver(failing, other, fail) {
    const since = await nodes.waitUntilAllDeliver([failing, other])
    const webhooks = nodes.webhooksServedBy([failing], since)
    fail()
    await nodes.waitUntilServed([other], webhooks, `it did not take over from node ${failing.id}`)
  }

  let first = await startNode(0)
  let second = await startNode(1)
  for (let time = 0; time < times && history.failures.length === 0; time += 1) {
    let resume = () => {}
    await takeOver(second, first, () => {
      resume = second.pause()
    })
    resume()
    await takeOver(first, second, () => void first.kill())
    await first.exited
    progress.cycleEnded()
    first = second
    second = await startNode(time % 2)
  }
  await terminateNode(history, first)
  await nodes.finish(second)
  return { history }
}
