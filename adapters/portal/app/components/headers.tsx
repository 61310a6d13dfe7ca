/** The headers of a request or a response. */
import { Line } from './hostile-text.js'

export function Headers({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  return (
    <dl class="headers">
      {Object.entries(headers).map(([name, value]) => (
        <div key={name}>
          <dt>
            <Line text={name} />
          </dt>
          <dd>
            <Line text={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
