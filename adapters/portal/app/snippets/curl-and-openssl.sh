# Sends a signed event to your own server, as the service would: SECRET=whsec_… URL=http://127.0.0.1:3000/in sh send.sh
: "${SECRET:?the secret of the webhook}" "${URL:?the URL of your server}"
ID="test_$(openssl rand -hex 12)"
TIMESTAMP="$(date +%s)"
BODY='{"hook_event":"channel_create","account_id":"acme","call_id":"test"}'
KEY="$(printf %s "${SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')"
SIGNATURE="$(printf %s "$ID.$TIMESTAMP.$BODY" |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | openssl base64 -A)"
curl -sS -i "$URL" -H 'Content-Type: application/json' -H "webhook-id: $ID" \
  -H "webhook-timestamp: $TIMESTAMP" -H "webhook-signature: v1,$SIGNATURE" --data-raw "$BODY"
