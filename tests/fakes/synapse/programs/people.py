"""Plays people on Matrix, each with a device of their own: an independent client (matrix-nio), with end-to-end encryption.
Driven by JSON lines on standard input, answered by JSON lines on standard output; whatever somebody's client sees is a line,
too. Ends when standard input is closed. What the requests are stands beside each; nothing here knows the bot."""

import asyncio
import base64
import hashlib
import json
import logging
import os
import sys
import tempfile

import aiohttp
import nio
import nio.crypto.sas
from nio.crypto.sas import Sas, SasState

SERVER = sys.argv[1]
STORES = tempfile.TemporaryDirectory(dir=sys.argv[2])
PASSWORD = "correct horse"
# Whatever was said in a room since somebody's client looked last, and not the latest ten events alone.
FILTER = {"room": {"timeline": {"limit": 500}}}


class Sha256:
    """What a comparison of keys is begun with. The client writes it in hexadecimal; the specification, and everybody else, in
    Base64 without its padding."""

    def __init__(self, data: bytes):
        self.digest = hashlib.sha256(data).digest()

    def hexdigest(self) -> str:
        return base64.b64encode(self.digest).decode().rstrip("=")


nio.crypto.sas.sha256 = Sha256
# What the client works out is this one, and it calls it by the name of the one before, which was worked out wrongly.
Sas._mac_normal = "hkdf-hmac-sha256.v2"
Sas._mac_v1 = [Sas._mac_normal]


class Failed(Exception):
    """What cannot be done, in words."""


def tell(line: dict) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def checked(response):
    if isinstance(response, nio.ErrorResponse):
        raise Failed(str(response))
    return response


async def ask_for_keys(client: nio.AsyncClient) -> None:
    try:
        checked(await client.keys_query())
    except nio.LocalProtocolError:
        # The client's own loop has just asked.
        pass


class Device:
    """One device of one person."""

    def __init__(self, key: str, user: str):
        self.key = key
        config = nio.AsyncClientConfig(encryption_enabled=True, store_sync_tokens=False, max_timeouts=0)
        store = tempfile.mkdtemp(dir=STORES.name)
        self.client = nio.AsyncClient(SERVER, user, store_path=store, config=config)
        self.unread: dict[str, nio.MegolmEvent] = {}
        # Whatever anybody waits for is looked at again after each sync.
        self.synced = asyncio.Condition()
        self.shared_with: dict[str, set] = {}
        self.task = None

    async def begin(self) -> None:
        client = self.client
        client.add_event_callback(self.saw, nio.Event)
        client.add_event_callback(self.invited, nio.InviteMemberEvent)
        client.add_response_callback(self.after_sync, nio.SyncResponse)
        self.task = asyncio.create_task(self.listen())
        await self.until(lambda: client.next_batch)
        if client.should_upload_keys:
            checked(await client.keys_upload())

    async def listen(self) -> None:
        while True:
            try:
                await self.client.sync_forever(timeout=30000, full_state=True, sync_filter=FILTER)
            except Exception as error:  # A person goes on, whatever it was: the server may be away, as some tests want it.
                if not isinstance(error, (aiohttp.ClientError, asyncio.TimeoutError, OSError, nio.LocalProtocolError)):
                    print(f"{self.key}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
                await asyncio.sleep(0.1)

    async def until(self, is_so, seconds: float = 30) -> None:
        async with self.synced:
            try:
                await asyncio.wait_for(self.synced.wait_for(is_so), seconds)
            except asyncio.TimeoutError:
                raise Failed(f"{self.key} has waited for {seconds} s") from None

    async def after_sync(self, _response) -> None:
        for event_id, event in list(self.unread.items()):
            try:
                read = self.client.decrypt_event(event)
            except nio.EncryptionError:
                continue
            del self.unread[event_id]
            self.report(event.room_id, read)
        async with self.synced:
            self.synced.notify_all()

    async def saw(self, room: nio.MatrixRoom, event: nio.Event) -> None:
        if isinstance(event, nio.MegolmEvent):
            event.room_id = room.room_id
            self.unread[event.event_id] = event
        self.report(room.room_id, event)

    async def invited(self, room, event: nio.InviteMemberEvent) -> None:
        if event.membership == "invite" and event.state_key == self.client.user_id:
            await self.client.join(room.room_id)

    def report(self, room: str, event: nio.Event) -> None:
        is_unread = isinstance(event, nio.MegolmEvent)
        tell({
            "seen_by": self.client.user_id,
            "room": room,
            "event": event.source,
            "readable": not is_unread,
            "encrypted": is_unread or bool(event.decrypted),
            "sender_key": getattr(event, "sender_key", None),
        })


class People:
    def __init__(self):
        self.devices: dict[str, Device] = {}

    def of(self, request: dict) -> nio.AsyncClient:
        return self.devices[request["by"]].client

    async def account(self, request: dict) -> dict:
        """An account without a device, for a bot to log in to: `name`, `password`."""
        auth = {"type": "m.login.dummy"}
        body = {"username": request["name"], "password": request["password"], "auth": auth, "inhibit_login": True}
        async with aiohttp.ClientSession() as session:
            async with session.post(f"{SERVER}/_matrix/client/v3/register", json=body) as response:
                answer = await response.json()
        if "user_id" not in answer:
            raise Failed(str(answer))
        return {"user": answer["user_id"]}

    async def person(self, request: dict) -> dict:
        """Somebody new: `name`, and `display` for what they are called. They accept every invitation."""
        device = Device(request["name"], request["name"])
        checked(await device.client.register(request["name"], PASSWORD))
        await device.begin()
        user = device.client.user_id
        self.devices[user] = device
        if request.get("display"):
            checked(await device.client.set_displayname(request["display"]))
        return {"user": user, "device": device.client.device_id}

    async def device(self, request: dict) -> dict:
        """One more device of somebody, named `key`."""
        device = Device(request["key"], request["of"])
        checked(await device.client.login(PASSWORD, device_name=request["key"]))
        await device.begin()
        self.devices[request["key"]] = device
        return {"device": device.client.device_id}

    async def display(self, request: dict) -> dict:
        """Another display name."""
        checked(await self.of(request).set_displayname(request["display"]))
        return {}

    async def room(self, request: dict) -> dict:
        """A room with everybody of `invite` in it, when they have all joined."""
        client = self.of(request)
        encryption = {"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}
        created = checked(await client.room_create(
            name=request.get("name"),
            is_direct=request["direct"],
            invite=request["invite"],
            preset=nio.RoomPreset.trusted_private_chat if request["direct"] else nio.RoomPreset.private_chat,
            initial_state=[encryption] if request["encrypted"] else [],
        ))
        return {"room": created.room_id}

    async def joined(self, request: dict) -> dict:
        """Waits until all of `users` are in `room`, as `by` and every other person there sees it."""
        room, users = request["room"], set(request["users"])
        await self.sees(self.devices[request["by"]], room, users)
        for device in list(self.devices.values()):
            if device.client.user_id in users:
                await self.sees(device, room, users)
        return {}

    async def sees(self, device: Device, room: str, users: set) -> None:
        def all_there() -> bool:
            known = device.client.rooms.get(room)
            invited = set(known.invited_users) if known else set()
            return known is not None and users <= set(known.users) - invited

        await device.until(all_there)

    async def invite(self, request: dict) -> dict:
        checked(await self.of(request).room_invite(request["room"], request["user"]))
        return {}

    async def leave(self, request: dict) -> dict:
        checked(await self.of(request).room_leave(request["room"]))
        return {}

    async def power(self, request: dict) -> dict:
        """Gives `user` so much power in `room`."""
        client = self.of(request)
        levels = checked(await client.room_get_state_event(request["room"], "m.room.power_levels")).content
        levels.setdefault("users", {})[request["user"]] = request["level"]
        checked(await client.room_put_state(request["room"], "m.room.power_levels", levels))
        return {}

    async def state(self, request: dict) -> dict:
        """Sets a state of the room."""
        room, kind, content = request["room"], request["kind"], request["content"]
        sent = await self.of(request).room_put_state(room, kind, content, request["key"])
        return {"event": checked(sent).event_id}

    async def send(self, request: dict) -> dict:
        """Any event: `kind` and `content`; encrypted where the room is."""
        room = request["room"]
        client = self.of(request)
        await self.knows_devices(self.devices[request["by"]], room)
        sent = await client.room_send(room, request["kind"], request["content"], ignore_unverified_devices=True)
        return {"event": checked(sent).event_id}

    async def knows_devices(self, device: Device, room: str) -> None:
        """Asks for the devices of everybody, so that each of them gets the key."""
        client = device.client
        if not client.rooms[room].encrypted:
            return
        client.olm.users_for_key_query.update(client.rooms[room].users)
        await ask_for_keys(client)
        users = client.rooms[room].users
        devices = {(user, each.id) for user in users for each in client.device_store.active_user_devices(user)}
        if device.shared_with.get(room) != devices:
            # What was shared before lacks somebody's new device.
            client.invalidate_outbound_session(room)
        device.shared_with[room] = devices

    async def send_unreadable(self, request: dict) -> dict:
        """A message under a key that nobody is given."""
        client, room = self.of(request), request["room"]
        client.olm.create_outbound_group_session(room)
        client.olm.outbound_group_sessions[room].shared = True
        content = {"msgtype": "m.text", "body": request["body"]}
        sent = await client.room_send(room, "m.room.message", content, ignore_unverified_devices=True)
        client.invalidate_outbound_session(room)
        return {"event": checked(sent).event_id}

    async def send_in_the_clear(self, request: dict) -> dict:
        """An event that is not encrypted, also where the room is."""
        client = self.of(request)
        path = f"{SERVER}/_matrix/client/v3/rooms/{request['room']}/send/{request['kind']}/{request['id']}-clear"
        headers = {"Authorization": f"Bearer {client.access_token}"}
        async with aiohttp.ClientSession() as session:
            async with session.put(path, json=request["content"], headers=headers) as response:
                answer = await response.json()
        if "event_id" not in answer:
            raise Failed(str(answer))
        return {"event": answer["event_id"]}

    async def redact(self, request: dict) -> dict:
        sent = await self.of(request).room_redact(request["room"], request["event"])
        return {"event": checked(sent).event_id}

    async def compare(self, request: dict) -> dict:
        """Begins to compare keys with the only device of `user`; answers with the emoji that the person sees."""
        device = self.devices[request["by"]]
        client = device.client
        client.olm.users_for_key_query.add(request["user"])
        await ask_for_keys(client)
        [other] = client.device_store.active_user_devices(request["user"])
        checked(await client.start_key_verification(other))
        [flow] = [flow for flow, sas in client.key_verifications.items() if sas.other_olm_device.id == other.id and not sas.canceled]
        sas = client.key_verifications[flow]
        await device.until(lambda: sas.canceled or sas.state == SasState.key_received)
        if sas.canceled:
            raise Failed(f"the other side gave up: {sas.cancel_reason}")
        # nio 0.26 takes the positions of the emoji for the bytes that they are made of, and would show others.
        positions = sas.established_sas.bytes(sas._extra_info).emoji_indices
        return {"flow": flow, "emoji": [sas.emoji[position][1] for position in positions]}

    async def confirm(self, request: dict) -> dict:
        """Says that the emoji of this comparison are the same on both sides."""
        checked(await self.of(request).confirm_short_auth_string(request["flow"]))
        return {}

    async def compared(self, request: dict) -> dict:
        """Waits until the other side has said so, too."""
        device = self.devices[request["by"]]
        sas = device.client.key_verifications[request["flow"]]
        await device.until(lambda: sas.canceled or sas.verified)
        if not sas.verified:
            raise Failed(f"the other side gave up: {sas.cancel_reason}")
        return {}


async def answer(people: People, request: dict) -> None:
    try:
        tell({"id": request["id"], "ok": await getattr(people, request["do"])(request)})
    except Exception as error:  # Whatever it is, whoever asked is told.
        tell({"id": request["id"], "error": f"{request['do']}: {type(error).__name__}: {error}"})


async def main() -> None:
    logging.disable(logging.CRITICAL)
    people = People()
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(limit=1 << 24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    running = set()
    while line := await lines.readline():
        task = asyncio.create_task(answer(people, json.loads(line)))
        running.add(task)
        task.add_done_callback(running.discard)
    STORES.cleanup()
    # Nobody waits for what the clients still wait for.
    os._exit(0)


asyncio.run(main())
