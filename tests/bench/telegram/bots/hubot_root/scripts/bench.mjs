// The script of Hubot as a peer: one pattern, one reply.
export default robot => {
  robot.hear(/^restart (\S+) (\S+)$/, async response => {
    await response.send(`ok restart ${response.match[1]} ${response.match[2]}`);
  });
};
