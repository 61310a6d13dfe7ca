/** Lists as async iterators over items or pages. */
import { HookswitchClientError } from './error.js'

/** One page of a list. */
export interface Page<Item> {
  /** The items of this page. */
  readonly items: readonly Item[]
  /** `startKey` of the next page; absent on the last page. */
  readonly nextStartKey?: string
  /** True: there is more than a list that has no pages contains. */
  readonly isTruncated?: true
  /** Id of the request, for the service's operator. */
  readonly requestId?: string
}

/**
 * A list. Nothing is requested before it is read, and each page when it is needed.
 *
 * @example
 * for await (const webhook of client.listWebhooks()) console.log(webhook.name)
 */
export interface List<Item> extends AsyncIterable<Item> {
  /** The pages, beginning at `startKey`. */
  pages(): AsyncGenerator<Page<Item>, void, undefined>
  /** The page at `startKey`; by default the first. */
  page(): Promise<Page<Item>>
}

/**
 * @param what the call, for messages: `GET /webhooks`
 * @param readPage requests the page at a start key
 */
export function createList<Item>(
  what: string,
  firstKey: string | undefined,
  readPage: (startKey: string | undefined) => Promise<Page<Item>>,
): List<Item> {
  async function* pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let key = firstKey
    for (;;) {
      const page = await readPage(key)
      yield page
      if (page.nextStartKey === undefined) return
      if (page.nextStartKey === key) {
        throw new HookswitchClientError('invalid_response', `${what}: the next page is the same page again`)
      }
      key = page.nextStartKey
    }
  }
  return {
    pages,
    page: () => readPage(firstKey),
    async *[Symbol.asyncIterator]() {
      for await (const { items } of pages()) yield* items
    },
  }
}
