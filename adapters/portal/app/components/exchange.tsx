/** The request and the response of an attempt, beside each other. */
import type { Attempt } from 'hookswitch/client'
import { failureText, t } from '../state/translate.js'
import { curlCommand } from '../text/curl.js'
import { outcomeOf } from '../text/outcome.js'
import { duration } from '../text/times.js'
import { CopyButton } from './copy.js'
import { Headers } from './headers.js'
import { Body, Line } from './hostile-text.js'

export function Exchange({ attempt }: { readonly attempt: Attempt }) {
  const { req_headers: requestHeaders, req_body: requestBody, resp_headers: responseHeaders } = attempt
  const cause = attempt.cause ?? attempt.client_error
  const took = attempt.duration_ms === undefined ? '' : duration(attempt.duration_ms)
  return (
    <div class="exchange">
      <section>
        <h2>{t('attempt.request')}</h2>
        {requestHeaders === undefined ? (
          <p>{t('attempt.notSent')}</p>
        ) : (
          <>
            <p class="number">
              <Line text={`${attempt.method.toUpperCase()} ${attempt.uri}`} />
            </p>
            <Headers headers={requestHeaders} />
            {requestBody !== undefined && requestBody !== '' && (
              <Body text={requestBody} label={t('attempt.requestBody')} />
            )}
            <CopyButton
              label={t('attempt.curl')}
              text={() =>
                curlCommand({
                  method: attempt.method,
                  uri: attempt.uri,
                  headers: requestHeaders,
                  body: requestBody,
                })
              }
            />
          </>
        )}
      </section>
      <section>
        <h2>{t('attempt.response')}</h2>
        <p class="number">
          <Line text={outcomeOf(attempt)} /> {took}
          {attempt.late === true && ` (${t('attempt.late')})`}
        </p>
        {attempt.reason !== undefined && (
          <p class="muted">
            <Line text={[attempt.reason, cause && failureText(cause)].filter(Boolean).join(': ')} />
          </p>
        )}
        {attempt.detail !== undefined && (
          <p>
            <Line text={attempt.detail} />
          </p>
        )}
        {attempt.out_of_order === true && <p>{t('attempt.outOfOrder')}</p>}
        {responseHeaders && <Headers headers={responseHeaders} />}
        {attempt.resp_body !== undefined && attempt.resp_body !== '' && (
          <Body text={attempt.resp_body} label={t('attempt.responseBody')} />
        )}
      </section>
    </div>
  )
}
